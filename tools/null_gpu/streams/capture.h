// SPDX-License-Identifier: MIT
// Stream capture and the graphs that it makes.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CAPTURE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CAPTURE_H_

#include <driver_types.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tools/null_gpu/streams/operation.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {

struct GraphNode {
  uint64_t id;
  Operation operation;
  std::vector<GraphNode*> dependencies;
};

struct Graph {
  uint32_t id;
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order of the capture
};

// A graph that can be launched. It lives on when its graph is destroyed.
struct GraphExec {
  uint32_t id;
  struct Step {
    uint64_t node;
    Operation operation;
  };
  std::vector<Step> steps;
};

struct Capture {
  uint64_t id;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  Stream* origin;
  std::unique_ptr<Graph> graph;
  bool active = true;
  bool invalidated = false;
};

// All want the mutex of stream.h held, if they do not say otherwise.

cudaError_t BeginCapture(Stream& stream, cudaStreamCaptureMode mode);

// Ends the capture in any case but that of the wrong stream or thread. The
// graph is null after an error.
cudaError_t EndCapture(Stream& stream, std::unique_ptr<Graph>& graph);

// Adds a node to the stream's capture.
cudaError_t Record(const Operation& operation, Stream& stream);

// The stream's next node also depends on what the event saw. A stream outside
// of the event's capture joins it.
cudaError_t JoinCapture(Stream& stream, const Event& event);

// For a call that a capture forbids: makes the capture worthless and returns
// the error.
cudaError_t Invalidate(Capture& capture, cudaError_t error);

// Using the legacy default stream would involve each blocking stream, also one
// that is captured.
cudaError_t CheckImplicit(const Stream& stream);

// Of the calling thread.
cudaStreamCaptureMode ExchangeCaptureMode(cudaStreamCaptureMode mode);

// A call such as cudaMalloc, which may not come between the nodes of a capture
// unless thread or capture are relaxed. Takes the mutex.
cudaError_t CheckUnsafe();

// Waiting for the whole device waits for captured streams too, which never
// ends.
cudaError_t CheckDeviceWait(int device);

std::unique_ptr<GraphExec> Instantiate(const Graph& graph);
cudaError_t LaunchGraph(const GraphExec& exec, Stream& stream);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CAPTURE_H_
