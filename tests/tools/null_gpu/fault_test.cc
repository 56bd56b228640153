// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/fault.h"

#include <gtest/gtest.h>

#include "tests/tools/null_gpu/fixture.h"

namespace null_gpu {
namespace {

TEST(FaultPlanTest, HitsTheCallThatItNames) {
  FaultPlan plan;
  ASSERT_EQ(
      plan.Parse("malloc:2=out_of_memory;launch:3+=illegal_address,sticky;"
                 "host_malloc:*=invalid_value"),
      "");
  EXPECT_FALSE(plan.Next("malloc"));
  EXPECT_EQ(plan.Next("malloc")->error, cudaErrorMemoryAllocation);
  EXPECT_FALSE(plan.Next("malloc"));
  EXPECT_FALSE(plan.Next("launch"));
  EXPECT_FALSE(plan.Next("launch"));
  for (int i = 0; i < 3; ++i) {
    const auto fault = plan.Next("launch");
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->error, cudaErrorIllegalAddress);
    EXPECT_TRUE(fault->sticky);
  }
  EXPECT_FALSE(plan.Next("nccl"));
  EXPECT_TRUE(plan.Next("host_malloc"));
  EXPECT_EQ(plan.Next("host_malloc")->error, cudaErrorInvalidValue);
}

TEST(FaultPlanTest, CountsOnlyCallsThatAreLargeEnough) {
  FaultPlan plan;
  ASSERT_EQ(plan.Parse("malloc>=1000:2"), "");
  EXPECT_FALSE(plan.Next("malloc", 1000));
  EXPECT_FALSE(plan.Next("malloc", 999));
  const auto fault = plan.Next("malloc", 5000);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->error, cudaErrorMemoryAllocation);
}

TEST(FaultPlanTest, RefusesWhatItDoesNotUnderstand) {
  FaultPlan plan;
  for (const char* text :
       {"malloc", "malloc:0", "malloc:x", "malloc:1=oops", "mallok:1",
        "malloc>=x:1", "malloc:1,stuck", "launch:1=remote_error",
        "malloc:1=never", "ncclAllReduce:1", "cublasGemmEx:1",
        "cudaMalloc>=1:1", "launch>=1:1"}) {
    EXPECT_NE(plan.Parse(text), "") << text;
  }
}

class InjectedFaultTest : public NullGpuTest {};

TEST_F(InjectedFaultTest, AnErrorIsTheLastOneUntilItIsAskedFor) {
  SetFaults("malloc:1");
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(Counted("faults"), 1);
}

TEST_F(InjectedFaultTest, AStickyErrorShowsAfterTheLaunchAndStays) {
  SetFaults("launch:1=illegal_address,sticky");
  EXPECT_EQ(Launch(nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorIllegalAddress);
  EXPECT_EQ(Launch(nullptr), cudaErrorIllegalAddress);
  int devices = 0;
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
}

}  // namespace
}  // namespace null_gpu
