// SPDX-License-Identifier: MIT
// The fused operations on a GPU, or on a null GPU that holds values and runs
// our kernels in the emulator. There LibTorch's kernels leave memory unchanged:
// a test states how many of them it launches and does not check their results.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>

#include "tests/model/fused/comparison.h"

namespace trainbench {

class CudaFusedTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { ExpectKernelsOfLibTorch(0); }

  bool emulated() const { return emulated_; }
  // Expects `count` kernels since the last call, and no error of the emulator.
  // Does nothing on a real GPU.
  void ExpectKernelsOfLibTorch(int64_t count);

  // Resets the counts of launches.
  static void ResetCounters();

  // Copies whole storages, for which LibTorch needs no kernel.
  static at::Tensor ToDevice(const at::Tensor& host);
  static at::Tensor ToHost(const at::Tensor& device);

  void ExpectFormula(const FusedCase& c) const {
    trainbench::ExpectFormula({.to_device = ToDevice,
                               .to_host = ToHost,
                               .tolerance = Tolerance,
                               .known_columns = known_columns_},
                              c);
  }

  // The tolerance for results that are rounded a few times.
  static double Tolerance(at::ScalarType dtype) {
    return dtype == at::kFloat ? 4e-6 : 8e-3;
  }

  // Limits the comparison on a null GPU to the gradients' first `columns` of
  // the last dimension, which no kernel of LibTorch computes.
  void set_known_columns(int64_t columns) {
    if (emulated_) known_columns_ = columns;
  }

 private:
  bool emulated_ = false;
  int64_t known_columns_ = -1;  // all
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
