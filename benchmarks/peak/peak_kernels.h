// SPDX-License-Identifier: MIT
// Simple kernels that measure a device's peak rates.

#ifndef TRAINBENCH_BENCHMARKS_PEAK_PEAK_KERNELS_H_
#define TRAINBENCH_BENCHMARKS_PEAK_PEAK_KERNELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/fused/mm.h"
#include "model/spec/precision.h"

namespace trainbench {

// Compares some rows of c [m, n] with a [m, k] b [k, n] in float64, by
// RelativeError. FailedPrecondition gives the error and the limit: 1e-5 in
// fp32, which a product of tf32 operands exceeds; 2^-10 in tf32; 2^-7 in bf16.
absl::Status VerifyProduct(const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c, Precision precision);

// Returns DataLoss with the number of elements of `what` that differ.
absl::Status VerifyEqual(absl::string_view what, const at::Tensor& actual,
                         const at::Tensor& expected);

// C [m, n] = A [m, k] B [k, n] with normally distributed operands, into
// preallocated memory.
class MatrixProduct {
 public:
  // As LibTorch chooses. The caller opens a MatmulScope for `precision`.
  MatrixProduct(int64_t m, int64_t n, int64_t k, Precision precision,
                at::Device device);
  // As in a linear layer, with B as a transposed weight, in fp32 on a CPU.
  MatrixProduct(int64_t m, int64_t n, int64_t k, ProductLibrary library);

  void Multiply();
  // Overwrites the result, multiplies, then calls VerifyProduct. Reports
  // constant operands (inputs.h), as do the other checks of this file.
  absl::Status Verify();

 private:
  Precision precision_;
  std::optional<ProductLibrary> library_;
  at::Tensor a_, b_, c_;
};

// A chain of dependent operations on one element.
class OpOverhead {
 public:
  OpOverhead(int ops, const at::TensorOptions& options);

  void Run();
  // Returns DataLoss if the operations were not `ops` additions of 1.
  absl::Status Verify();

 private:
  int ops_;
  at::Tensor x_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_PEAK_PEAK_KERNELS_H_
