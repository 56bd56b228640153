// SPDX-License-Identifier: MIT
// The runtime: stream capture and graphs.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

using null_gpu::Call;
using null_gpu::FindStream;
using null_gpu::Graph;
using null_gpu::GraphExec;
using null_gpu::GraphNode;
using null_gpu::Stream;
using null_gpu::StreamMutex;

namespace {

cudaError_t StatusOf(cudaStream_t handle, Stream*& stream,
                     cudaStreamCaptureStatus* status) {
  stream = FindStream(handle);
  *status = cudaStreamCaptureStatusNone;
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return null_gpu::CheckImplicit(*stream);
  *status = stream->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t InstantiateGraph(cudaGraphExec_t* exec, cudaGraph_t graph) {
  const std::lock_guard lock(StreamMutex());
  *exec = reinterpret_cast<cudaGraphExec_t>(
      null_gpu::Instantiate(*reinterpret_cast<Graph*>(graph)).release());
  return cudaSuccess;
}

// Fills `out` with at most `*count` pointers; sets `*count` if `out` is null.
template <typename Nodes, typename Get>
cudaError_t List(const Nodes& nodes, Get&& get, cudaGraphNode_t* out,
                 size_t* count) {
  if (out == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  const size_t filled = std::min(*count, nodes.size());
  for (size_t i = 0; i < filled; ++i) {
    out[i] = reinterpret_cast<cudaGraphNode_t>(get(nodes[i]));
  }
  std::fill(out + filled, out + *count, nullptr);
  *count = filled;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle,
                                   cudaStreamCaptureMode mode) {
  return Call<"cudaStreamBeginCapture">([&] {
    const std::lock_guard lock(StreamMutex());
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return null_gpu::BeginCapture(*stream, mode);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return Call<"cudaStreamEndCapture">([&] {
    const std::lock_guard lock(StreamMutex());
    *graph = nullptr;
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    std::unique_ptr<Graph> captured;
    const cudaError_t error = null_gpu::EndCapture(*stream, captured);
    *graph = reinterpret_cast<cudaGraph_t>(captured.release());
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                  cudaStreamCaptureStatus* status) {
  return Call<"cudaStreamIsCapturing">([&] {
    const std::lock_guard lock(StreamMutex());
    Stream* stream = nullptr;
    return StatusOf(handle, stream, status);
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                     cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return Call<"cudaStreamGetCaptureInfo">([&] {
    const std::lock_guard lock(StreamMutex());
    Stream* stream = nullptr;
    const cudaError_t error = StatusOf(handle, stream, status);
    if (error != cudaSuccess || *status != cudaStreamCaptureStatusActive) {
      return error;
    }
    if (id != nullptr) *id = stream->capture->id;
    if (graph != nullptr) {
      *graph = reinterpret_cast<cudaGraph_t>(stream->capture->graph.get());
    }
    if (dependencies != nullptr) {
      *dependencies =
          reinterpret_cast<const cudaGraphNode_t*>(stream->tail.data());
    }
    // All edges are plain ones.
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream->tail.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData*,
                                                size_t count, unsigned flags) {
  return Call<"cudaStreamUpdateCaptureDependencies">([&] {
    const std::lock_guard lock(StreamMutex());
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    if (flags == cudaStreamSetCaptureDependencies) stream->tail.clear();
    for (size_t i = 0; i < count; ++i) {
      stream->tail.push_back(reinterpret_cast<GraphNode*>(nodes[i]));
    }
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Call<"cudaThreadExchangeStreamCaptureMode">([&] {
    *mode = null_gpu::ExchangeCaptureMode(*mode);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                              size_t* count) {
  return Call<"cudaGraphGetNodes">([&] {
    const std::lock_guard lock(StreamMutex());
    return List(
        reinterpret_cast<const Graph*>(graph)->nodes,
        [](const auto& node) { return node.get(); }, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges,
                                         size_t* count) {
  return Call<"cudaGraphNodeGetDependencies">([&] {
    const std::lock_guard lock(StreamMutex());
    const cudaError_t error = List(
        reinterpret_cast<const GraphNode*>(node)->dependencies,
        [](GraphNode* dependency) { return dependency; }, dependencies, count);
    if (edges != nullptr) std::fill(edges, edges + *count, cudaGraphEdgeData{});
    return error;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return Call<"cudaGraphDestroy">([&] {
    const std::lock_guard lock(StreamMutex());
    delete reinterpret_cast<Graph*>(graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long) {
  return Call<"cudaGraphInstantiate">(
      [&] { return InstantiateGraph(exec, graph); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec,
                                          cudaGraph_t graph,
                                          unsigned long long) {
  return Call<"cudaGraphInstantiateWithFlags">(
      [&] { return InstantiateGraph(exec, graph); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return Call<"cudaGraphExecDestroy">([&] {
    const std::lock_guard lock(StreamMutex());
    delete reinterpret_cast<GraphExec*>(exec);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return Call<"cudaGraphLaunch">([&] {
    const auto fault =
        null_gpu::Inject("graph_launch", 0, null_gpu::Returns::kAtOnce);
    if (fault.error != cudaSuccess) return fault.error;
    const std::lock_guard lock(StreamMutex());
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return null_gpu::LaunchGraph(*reinterpret_cast<GraphExec*>(exec), *stream);
  });
}

}  // extern "C"
