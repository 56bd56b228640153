// SPDX-License-Identifier: MIT
// The runtime: stream capture and graphs.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

cudaError_t GetStatus(const Stream& stream, cudaStreamCaptureStatus* status) {
  if (stream.capture == nullptr) return CheckImplicit(stream);
  *status = stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

// Fills `out` with at most `*count` nodes; sets `*count` if `out` is null.
cudaError_t List(const std::vector<cudaGraphNode_t>& nodes,
                 cudaGraphNode_t* out, size_t* count) {
  if (out == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  const size_t filled = std::min(*count, nodes.size());
  std::fill(std::copy_n(nodes.begin(), filled, out), out + *count, nullptr);
  *count = filled;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle,
                                   cudaStreamCaptureMode mode) {
  return StreamCall(handle,
                    [&](Stream& stream) { return BeginCapture(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  return StreamCall(handle, [&](Stream& stream) {
    std::unique_ptr<Graph> captured;
    const cudaError_t error = EndCapture(stream, captured);
    *graph = captured.release();
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                  cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return StreamCall(
      handle, [&](const Stream& stream) { return GetStatus(stream, status); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                     cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges,
                                     size_t* count) {
  *status = cudaStreamCaptureStatusNone;
  return StreamCall(handle, [&](const Stream& stream) {
    const cudaError_t error = GetStatus(stream, status);
    if (error != cudaSuccess || *status != cudaStreamCaptureStatusActive) {
      return error;
    }
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) *graph = stream.capture->graph.get();
    if (dependencies != nullptr) *dependencies = stream.tail.data();
    // All edges are plain ones.
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream.tail.size();
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return Call([&] { *mode = ExchangeCaptureMode(*mode); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                              size_t* count) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return List(all, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges,
                                         size_t* count) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    const cudaError_t error = List(node->dependencies, dependencies, count);
    if (edges != nullptr) std::fill(edges, edges + *count, cudaGraphEdgeData{});
    return error;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    delete graph;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec,
                                          cudaGraph_t graph,
                                          unsigned long long) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    *exec = Instantiate(*graph).release();
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    delete exec;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return StreamCall(handle,
                    [&](Stream& stream) { return LaunchGraph(*exec, stream); });
}

}  // extern "C"
}  // namespace null_gpu
