// SPDX-License-Identifier: MIT
// The fused operations on a GPU, or on a null GPU that holds values and whose
// kernels of ours the emulator runs. LibTorch's kernels leave memory there as
// it is: a test says how many of them it launches, and expects nothing of them.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/model/fused/formulas.h"

namespace trainbench {

class CudaFusedTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { ExpectKernelsOfLibTorch(0); }

  bool emulated() const { return emulated_; }
  // Since the last call, and that the emulator found nothing wrong. A GPU is
  // not asked.
  void ExpectKernelsOfLibTorch(int64_t count);

  // Forgets the launches so far.
  static void ResetCounters();

  // Copies whole storages, for which LibTorch needs no kernel.
  static at::Tensor ToDevice(const at::Tensor& host);
  static at::Tensor ToHost(const at::Tensor& device);
  static Tensors ToDevice(const Tensors& host);

  // Compares results, and the first known_columns() of gradients for random
  // gradients of the results but the first `left_out`, with those of the
  // formula in float64.
  void ExpectEqual(const Operation& fused, const Operation& formula,
                   const Tensors& values, const std::string& what,
                   std::size_t left_out = 0);

  // Of a result that is rounded a few times.
  static double Tolerance(at::ScalarType dtype) {
    return dtype == at::kFloat ? 4e-6 : 8e-3;
  }

  // Of the gradients' last dimension, what no kernel of LibTorch computes; it
  // is compared on a GPU.
  void set_known_columns(int64_t columns) {
    if (emulated_) known_columns_ = columns;
  }

 private:
  bool emulated_ = false;
  int64_t known_columns_ = -1;  // all
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
