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

struct CUgraphNode_st {
  uint64_t id;
  null_gpu::Operation operation;
  std::vector<cudaGraphNode_t> dependencies;
};

struct CUgraph_st {
  uint32_t id;
  // In the order of the capture.
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

// A graph that can be launched. It outlives its graph.
struct CUgraphExec_st : CUgraph_st {};

namespace null_gpu {

struct Capture {
  uint64_t id;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  Stream* origin;
  std::unique_ptr<Graph> graph;
  bool active = true;
  bool invalidated = false;
};

// All functions require StreamMutex() unless stated otherwise.

cudaError_t BeginCapture(Stream& stream, cudaStreamCaptureMode mode);

// Ends the capture, except on a wrong stream or thread. The graph is null after
// an error.
cudaError_t EndCapture(Stream& stream, std::unique_ptr<Graph>& graph);

// Adds a node to the stream's capture.
cudaError_t Record(const Operation& operation, Stream& stream);

// Makes the stream's next node also depend on the event's nodes. A stream
// outside the event's capture joins it.
cudaError_t JoinCapture(Stream& stream, const Event& event);

// For a call that a capture forbids: invalidates the capture and returns the
// error.
cudaError_t Invalidate(Capture& capture, cudaError_t error);

// Checks a use of the legacy default stream, which would involve each blocking
// stream, also a captured one.
cudaError_t CheckImplicit(const Stream& stream);

// Sets the mode of the calling thread and returns the old one.
cudaStreamCaptureMode ExchangeCaptureMode(cudaStreamCaptureMode mode);

// Checks a call such as cudaMalloc, which is forbidden during a capture unless
// the thread or the capture is relaxed. Locks the mutex.
cudaError_t CheckUnsafe();

// Checks a wait for the whole device, which would also wait for captured
// streams and never end.
cudaError_t CheckDeviceWait(int device);

std::unique_ptr<GraphExec> Instantiate(const Graph& graph);
cudaError_t LaunchGraph(const GraphExec& exec, Stream& stream);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CAPTURE_H_
