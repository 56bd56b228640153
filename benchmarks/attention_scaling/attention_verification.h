// SPDX-License-Identifier: MIT
// Verifies attention at any sequence length, before it is timed.

#ifndef TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_VERIFICATION_H_
#define TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "benchmarks/attention_scaling/attention_fwd_bwd.h"

namespace trainbench {

// Compares output and gradients with a float64 reference on the last 64 rows of
// the last sequence. These rows see every key, and no other row sees the last
// 64 keys, so the reference is exact with [64, seq] scores and takes little
// memory at any length. FailedPrecondition names a tensor whose relative error,
// in norm, is above `tolerance`, or a constant input.
absl::Status VerifyAttention(const AttentionInputs& inputs,
                             const at::Tensor& output,
                             const AttentionGradients& gradients,
                             double tolerance);

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_VERIFICATION_H_
