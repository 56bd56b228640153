// SPDX-License-Identifier: MIT
// The state that tests of the null GPU share, as each of them wants to find it.

#ifndef TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
#define TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

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
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // makes the context
    ResetCounters();
  }
  void TearDown() override {
    SetFaults("");
    RestoreContext();
  }

  // Replaces the plan, and counts calls from now on.
  static void SetFaults(const std::string& plan) {
    ASSERT_EQ(GetSettings().faults.Parse(plan), "");
  }

  static trainbench_null_gpu_counters Counted() {
    return ReadCounters(Since::kReset);
  }

  // A kernel of the program.
  static cudaError_t Launch(cudaStream_t stream) {
    static const char host = 0;
    RegisterKernel(&host, "_Z6kernelv");
    return cudaLaunchKernel(&host, dim3(1), dim3(32), nullptr, 0, stream);
  }
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_TOOLS_NULL_GPU_FIXTURE_H_
