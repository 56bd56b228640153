// SPDX-License-Identifier: MIT
// Launches exactly at the limits of a kernel's binary, and just beyond them.

#include <gmock/gmock.h>

#include "tests/tools/null_gpu/fixture.h"
#include "tests/tools/null_gpu/limited_kernels.h"
#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/kernel.h"

namespace null_gpu {
namespace {

class LimitsTest : public NullGpuTest {
 protected:
  static cudaError_t Run(const void* kernel, int threads, int shared_bytes) {
    void* pointer = nullptr;
    char byte = 0;
    void* arguments[] = {&pointer, &byte, &pointer};
    return cudaLaunchKernel(kernel, dim3(1), dim3(threads), arguments,
                            static_cast<size_t>(shared_bytes), nullptr);
  }
  static cudaFuncAttributes Attributes(const void* kernel) {
    cudaFuncAttributes attributes;
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
    return attributes;
  }
};

TEST_F(LimitsTest, ThreadsAreWithinTheLaunchBounds) {
  EXPECT_EQ(Attributes(BoundedKernel()).maxThreadsPerBlock, kBound);
  EXPECT_EQ(Run(BoundedKernel(), kBound, 0), cudaSuccess);
  EXPECT_EQ(Run(BoundedKernel(), kBound + 1, 0), cudaErrorInvalidValue);
}

TEST_F(LimitsTest, ThreadsHaveTheirRegisters) {
  const cudaFuncAttributes attributes = Attributes(ManyRegistersKernel());
  EXPECT_GE(attributes.numRegs, 200);
  // 65,536 registers; a warp has 32 threads, with registers in multiples of 8.
  const int threads = 65536 / ((attributes.numRegs + 7) / 8 * 8) / 32 * 32;
  EXPECT_EQ(attributes.maxThreadsPerBlock, threads);
  EXPECT_LT(threads, 1024);
  EXPECT_EQ(Run(ManyRegistersKernel(), threads, 0), cudaSuccess);
  EXPECT_EQ(Run(ManyRegistersKernel(), threads + 1, 0),
            cudaErrorLaunchOutOfResources);
}

TEST_F(LimitsTest, MuchSharedMemoryMustBeAskedForAndTheStaticPartCounts) {
  const void* const kernel = StaticSharedKernel();
  EXPECT_EQ(Attributes(kernel).sharedSizeBytes, kStaticBytes);
  constexpr int kLeft = (48 << 10) - kStaticBytes;
  EXPECT_EQ(Run(kernel, 32, kLeft), cudaSuccess);
  EXPECT_EQ(Run(kernel, 32, kLeft + 1), cudaErrorInvalidValue);

  const auto allow = [&](int bytes) {
    return cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  const int most = DeviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) -
                   kStaticBytes;
  EXPECT_EQ(allow(most + 1), cudaErrorInvalidValue);
  EXPECT_EQ(allow(most), cudaSuccess);
  EXPECT_EQ(Run(kernel, 32, most), cudaSuccess);
  EXPECT_EQ(Run(kernel, 32, most + 1), cudaErrorInvalidValue);
  EXPECT_EQ(allow(0), cudaSuccess);
  EXPECT_EQ(Run(kernel, 32, kLeft), cudaSuccess);
}

TEST_F(LimitsTest, ArgumentsHaveTheirSizes) {
  const KernelNeeds* const needs = FindKernel(BoundedKernel())->needs;
  ASSERT_NE(needs, nullptr);
  EXPECT_THAT(needs->arguments, testing::ElementsAre(8, 1, 8));
}

}  // namespace
}  // namespace null_gpu
