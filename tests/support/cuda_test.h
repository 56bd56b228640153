// SPDX-License-Identifier: MIT
// The base fixture of tests that need a GPU, or the null GPU.

#ifndef TRAINBENCH_TESTS_SUPPORT_CUDA_TEST_H_
#define TRAINBENCH_TESTS_SUPPORT_CUDA_TEST_H_

#include <gtest/gtest.h>

#include "fixtures/device/cuda_support.h"
#include "fixtures/device/device.h"

namespace trainbench {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (CudaDeviceCount() == 0) GTEST_SKIP() << "no CUDA device";
    device_ = *OpenDevice("cuda");
  }

  Device device_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_CUDA_TEST_H_
