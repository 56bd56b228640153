// SPDX-License-Identifier: MIT
// The simplest work there is, for finding out what a device can do.

#ifndef TRAINBENCH_MODEL_OPS_PEAK_KERNELS_H_
#define TRAINBENCH_MODEL_OPS_PEAK_KERNELS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/spec/precision.h"

namespace trainbench {

// Compares some rows of c [m, n] with a [m, k] b [k, n] in float64, by
// RelativeError. FailedPrecondition gives the error and what is allowed: 1e-5
// in fp32, which a product of tf32 operands fails; 2^-10 in tf32; 2^-7 in bf16.
absl::Status VerifyProduct(const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c, Precision precision);

// DataLoss, with how many numbers of `what` differ, unless the two are equal.
absl::Status VerifyEqual(absl::string_view what, const at::Tensor& actual,
                         const at::Tensor& expected);

// C [m, n] = A [m, k] B [k, n] of normally distributed numbers, into memory
// that is there already.
class MatrixProduct {
 public:
  // Computes in `precision`, for which the caller opens a MatmulScope.
  MatrixProduct(int64_t m, int64_t n, int64_t k, Precision precision,
                at::Device device);

  void Multiply();
  // Multiplies, then VerifyProduct.
  absl::Status Verify();

 private:
  Precision precision_;
  at::Tensor a_, b_, c_;
};

// Copies `bytes` (a multiple of 4) of random numbers within the device.
class MemoryCopy {
 public:
  MemoryCopy(int64_t bytes, const at::TensorOptions& options);

  void Copy();
  // Copies, then VerifyEqual.
  absl::Status Verify();

 private:
  at::Tensor from_, to_;
};

// Changes `bytes` (a multiple of 4) in place: unlike a copy on a CPU, it writes
// only lines that it has read, so that every byte it moves is asked for.
class InPlaceUpdate {
 public:
  InPlaceUpdate(int64_t bytes, const at::TensorOptions& options);

  void Update();
  // Updates once, then VerifyEqual with the opposite of what was there.
  absl::Status Verify();

 private:
  at::Tensor x_;
};

// Operations on one element, each of which needs the one before.
class OpOverhead {
 public:
  OpOverhead(int ops, const at::TensorOptions& options);

  void Run();
  // DataLoss if the operations were not `ops` additions of 1.
  absl::Status Verify();

 private:
  int ops_;
  at::Tensor x_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_PEAK_KERNELS_H_
