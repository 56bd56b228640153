// SPDX-License-Identifier: MIT
// A base fixture that resets the null GPU's global state for each test.

#ifndef TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
#define TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

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
  }

  // Replaces the plan of faults and restarts the count of calls.
  static void SetFaults(const std::string& plan) {
    ASSERT_EQ(GetSettings().faults.Parse(plan), "");
  }

  static trainbench_null_gpu_counters Counted() {
    return ReadCounters(Since::kReset);
  }

  // Returns a stream that does not wait for the legacy default stream.
  static cudaStream_t NonBlockingStream() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
              cudaSuccess);
    return stream;
  }

  // Captures work, which begins on the stream.
  static cudaGraphExec_t Captured(cudaStream_t stream,
                                  const std::function<void()>& work) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
              cudaSuccess);
    work();
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }

  // Launches a kernel of the program.
  static cudaError_t Launch(cudaStream_t stream) {
    static const char host = 0;
    RegisterKernel(&host, "_Z6kernelv");
    return cudaLaunchKernel(&host, dim3(1), dim3(32), nullptr, 0, stream);
  }
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
