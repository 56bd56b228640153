// SPDX-License-Identifier: MIT
// A base fixture that resets the null GPU's global state for each test.

#ifndef TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
#define TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/launch.h"

namespace null_gpu {

class NullGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    SetFaults("");
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // creates the context
    ResetCounters();
  }
  void TearDown() override {
    SetFaults("");
    RestoreContext();
    for (cudaGraphExec_t exec : execs_) {
      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    }
    for (cudaEvent_t event : events_) {
      EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    }
    for (cudaStream_t stream : streams_) {
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
    for (void* block : blocks_) EXPECT_EQ(cudaFree(block), cudaSuccess);
  }

  // Replaces the plan of faults and restarts the count of calls.
  static void SetFaults(const std::string& plan) {
    ASSERT_EQ(GetSettings().faults.Parse(plan), "");
  }

  // Returns a count since the last reset.
  static uint64_t Counted(std::string_view name) {
    return ReadCounters(Since::kReset).at(name);
  }

  // TearDown destroys the streams, events and graphs, and frees the memory.

  void* Allocated(size_t bytes) {
    EXPECT_EQ(cudaMalloc(&blocks_.emplace_back(), bytes), cudaSuccess);
    return blocks_.back();
  }
  // Returns a stream that waits for the legacy default stream.
  cudaStream_t BlockingStream() {
    EXPECT_EQ(cudaStreamCreate(&streams_.emplace_back()), cudaSuccess);
    return streams_.back();
  }
  cudaStream_t NonBlockingStream() {
    EXPECT_EQ(cudaStreamCreateWithPriority(&streams_.emplace_back(),
                                           cudaStreamNonBlocking, 0),
              cudaSuccess);
    return streams_.back();
  }
  cudaEvent_t NewEvent() {
    EXPECT_EQ(cudaEventCreate(&events_.emplace_back()), cudaSuccess);
    return events_.back();
  }

  // Makes `to` wait for the work on `from`.
  void Wait(cudaStream_t to, cudaStream_t from) {
    const cudaEvent_t event = NewEvent();
    ASSERT_EQ(cudaEventRecord(event, from), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(to, event, 0), cudaSuccess);
  }

  // Captures work, which begins on the stream.
  cudaGraphExec_t Captured(cudaStream_t stream,
                           const std::function<void()>& work) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
              cudaSuccess);
    work();
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiateWithFlags(&execs_.emplace_back(), graph, 0),
              cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return execs_.back();
  }

  // Launches a kernel of the program.
  static cudaError_t Launch(cudaStream_t stream) {
    static const char host = 0;
    RegisterKernel(&host, "_Z6kernelv");
    return cudaLaunchKernel(&host, dim3(1), dim3(32), nullptr, 0, stream);
  }

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<cudaGraphExec_t> execs_;
  std::vector<void*> blocks_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
