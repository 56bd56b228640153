// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/capture.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/order/order.h"

namespace null_gpu {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::set<Capture*>& ActiveCaptures() {
  static auto* const captures = new std::set<Capture*>;
  return *captures;
}

std::vector<Stream*> StreamsIn(const Capture& capture) {
  std::vector<Stream*> streams;
  for (Stream* stream : StreamsOf(capture.origin->device)) {
    if (stream->capture.get() == &capture) streams.push_back(stream);
  }
  return streams;
}

// Returns these nodes and the nodes that must run before them.
std::set<const GraphNode*> Ancestors(const std::vector<GraphNode*>& nodes) {
  std::set<const GraphNode*> found;
  std::vector<const GraphNode*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(),
                node->dependencies.end());
  }
  return found;
}

// Whether the origin waits for the work of all streams that joined.
bool IsJoined(const Capture& capture) {
  const auto seen = Ancestors(capture.origin->tail);
  for (const Stream* stream : StreamsIn(capture)) {
    for (const GraphNode* node : stream->tail) {
      if (!seen.contains(node)) return false;
    }
  }
  return true;
}

bool Forbids(const Capture& capture) {
  if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return thread_mode == cudaStreamCaptureModeGlobal &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

cudaError_t BeginCapture(Stream& stream, cudaStreamCaptureMode mode) {
  if (IsLegacy(stream)) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  static uint64_t last_capture = 0;
  static uint32_t last_graph = 0;
  stream.capture = std::make_shared<Capture>(
      Capture{++last_capture, mode, std::this_thread::get_id(), &stream,
              std::make_unique<Graph>()});
  stream.capture->graph->id = ++last_graph;
  stream.tail.clear();
  ActiveCaptures().insert(stream.capture.get());
  return cudaSuccess;
}

cudaError_t EndCapture(Stream& stream, std::unique_ptr<Graph>& graph) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != &stream) {
    return Invalidate(*capture, cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  const bool joined = IsJoined(*capture);
  for (Stream* captured : StreamsIn(*capture)) {
    captured->capture = nullptr;
    captured->tail.clear();
  }
  capture->active = false;
  ActiveCaptures().erase(capture.get());
  if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  GetCounters().graph_nodes.Add(capture->graph->nodes.size());
  graph = std::move(capture->graph);
  return cudaSuccess;
}

cudaError_t Record(const Operation& operation, Stream& stream) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  static uint64_t last_node = 0;
  auto& nodes = capture.graph->nodes;
  nodes.push_back(std::make_shared<GraphNode>(
      GraphNode{++last_node, operation, stream.tail}));
  stream.tail = {nodes.back().get()};
  return cudaSuccess;
}

cudaError_t JoinCapture(Stream& stream, const Event& event) {
  Capture& capture = *event.capture;
  if (!capture.active) return cudaErrorCapturedEvent;
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  if (IsLegacy(stream)) {
    return Invalidate(capture, cudaErrorStreamCaptureImplicit);
  }
  if (stream.capture == nullptr) {
    stream.capture = event.capture;
    stream.tail = event.nodes;
    return cudaSuccess;
  }
  if (stream.capture != event.capture) {
    Invalidate(*stream.capture, cudaErrorStreamCaptureMerge);
    return Invalidate(capture, cudaErrorStreamCaptureMerge);
  }
  for (GraphNode* node : event.nodes) {
    if (std::find(stream.tail.begin(), stream.tail.end(), node) ==
        stream.tail.end()) {
      stream.tail.push_back(node);
    }
  }
  return cudaSuccess;
}

cudaError_t Invalidate(Capture& capture, cudaError_t error) {
  capture.invalidated = true;
  return error;
}

cudaError_t CheckImplicit(const Stream& stream) {
  if (!IsLegacy(stream)) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const Stream* other : StreamsOf(stream.device)) {
    if (!other->blocking || other->capture == nullptr) continue;
    error = Invalidate(*other->capture, cudaErrorStreamCaptureImplicit);
  }
  return error;
}

cudaStreamCaptureMode ExchangeCaptureMode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

cudaError_t CheckUnsafe() {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const std::lock_guard lock(StreamMutex());
  cudaError_t error = cudaSuccess;
  for (Capture* capture : ActiveCaptures()) {
    if (!Forbids(*capture)) continue;
    error = Invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t CheckDeviceWait(int device) {
  cudaError_t error = cudaSuccess;
  for (Capture* capture : ActiveCaptures()) {
    if (capture->origin->device != device) continue;
    error = Invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

std::unique_ptr<GraphExec> Instantiate(const Graph& graph) {
  OrderGraph(graph);
  return std::make_unique<GraphExec>(GraphExec{graph});
}

cudaError_t LaunchGraph(const GraphExec& exec, Stream& stream) {
  if (stream.capture != nullptr) return cudaErrorStreamCaptureUnsupported;
  if (const cudaError_t error = CheckImplicit(stream)) return error;
  GetCounters().graph_launches.Add();
  for (const auto& node : exec.nodes) {
    Execute(node->operation, stream, exec.id, node->id);
  }
  return cudaSuccess;
}

}  // namespace null_gpu
