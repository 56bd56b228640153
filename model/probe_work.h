// SPDX-License-Identifier: MIT
// The simplest work there is, for finding out what a device can do.

#ifndef TRAINBENCH_MODEL_PROBE_WORK_H_
#define TRAINBENCH_MODEL_PROBE_WORK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"

namespace trainbench {

// Compares some rows of c [m, n] with a [m, k] b [k, n] in float64, by the norm
// of the difference. FailedPrecondition gives the error and what is allowed:
// twice the unit roundoff of bf16, or that of tf32 for fp32 operands.
absl::Status VerifyProduct(const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c);

// C [m, n] = A [m, k] B [k, n] of normally distributed numbers, into memory
// that is there already.
class MatrixProduct {
 public:
  MatrixProduct(int64_t m, int64_t n, int64_t k,
                const at::TensorOptions& options);

  void Multiply();
  // Multiplies, then VerifyProduct.
  absl::Status Verify();

 private:
  at::Tensor a_, b_, c_;
};

// Copies `bytes` (a multiple of 4) of random numbers within the device.
class MemoryCopy {
 public:
  MemoryCopy(int64_t bytes, const at::TensorOptions& options);

  void Copy();
  // DataLoss if a copy differs from the original.
  absl::Status Verify();

 private:
  at::Tensor from_, to_;
};

// Changes `bytes` (a multiple of 4) in place: unlike a copy on a CPU, it writes
// only lines that it has read, so that every byte it moves is asked for.
class MemoryUpdate {
 public:
  MemoryUpdate(int64_t bytes, const at::TensorOptions& options);

  void Update();
  // DataLoss if two updates do not give the original.
  absl::Status Verify();

 private:
  at::Tensor x_;
};

// Operations on one element, each of which needs the one before.
class OpChain {
 public:
  OpChain(int ops, const at::TensorOptions& options);

  void Run();
  // DataLoss if the operations were not `ops` additions of 1.
  absl::Status Verify();

 private:
  int ops_;
  at::Tensor x_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_PROBE_WORK_H_
