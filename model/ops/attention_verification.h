// SPDX-License-Identifier: MIT
// Verifies attention at any sequence length, before it is timed.

#ifndef TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_
#define TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "model/ops/attention_fwd_bwd.h"

namespace trainbench {

// Compares output and gradients with a float64 reference, by blocks of 64 rows:
// in the norm of a whole tensor one wrong block is lost. output_error and
// q_gradient_error, k_gradient_error, v_gradient_error (spec/check_log.h) are
// the relative errors, in norm, of the worst blocks; each may be `tolerance`.
// Refuses constant inputs, too. Inference has no gradients.
//
// On a GPU all rows of all sequences are compared. On a CPU as many as take a
// moment: random sequences, or of a long one the last rows. These see every
// key, and no other row sees the last keys, so the reference is exact.
absl::Status VerifyAttention(const AttentionInputs& inputs,
                             const at::Tensor& output,
                             const std::optional<AttentionGradients>& gradients,
                             double tolerance);

// The most bytes of tensors that are alive in it, with its arguments, which
// have `width` bytes per element.
int64_t VerificationBytes(int64_t sequences, int64_t seq, int64_t d_head,
                          int64_t width, bool on_cpu);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_
