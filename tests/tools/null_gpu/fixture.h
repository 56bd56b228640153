// SPDX-License-Identifier: MIT
// A base fixture that resets the null GPU's global state for each test.

#ifndef TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
#define TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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
    for (; !at_end_.empty(); at_end_.pop_back()) at_end_.back()();
  }

  // TearDown makes the calls in reverse order.
  void AtEnd(std::function<void()> call) { at_end_.push_back(std::move(call)); }

  // Changes a setting until the test ends.
  template <typename T>
  void Set(T Settings::*field, std::type_identity_t<T> value) {
    AtEnd([field, before = std::exchange(GetSettings().*field, value)] {
      GetSettings().*field = before;
    });
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
    void* block = nullptr;
    EXPECT_EQ(cudaMalloc(&block, bytes), cudaSuccess);
    AtEnd([block] { EXPECT_EQ(cudaFree(block), cudaSuccess); });
    return block;
  }
  // Returns a stream that waits for the legacy default stream.
  cudaStream_t BlockingStream() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    return Owned(stream);
  }
  cudaStream_t NonBlockingStream() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0),
              cudaSuccess);
    return Owned(stream);
  }
  cudaEvent_t NewEvent() {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    AtEnd([event] { EXPECT_EQ(cudaEventDestroy(event), cudaSuccess); });
    return event;
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
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    AtEnd([exec] { EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess); });
    return exec;
  }

  // Launches a kernel of the program.
  static cudaError_t Launch(cudaStream_t stream) {
    static const char host = 0;
    RegisterKernel(&host, "_Z6kernelv");
    return cudaLaunchKernel(&host, dim3(1), dim3(32), nullptr, 0, stream);
  }

 private:
  cudaStream_t Owned(cudaStream_t stream) {
    AtEnd([stream] { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); });
    return stream;
  }

  std::vector<std::function<void()>> at_end_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
