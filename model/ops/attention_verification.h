// SPDX-License-Identifier: MIT
// Verifies attention at any sequence length, before it is timed.

#ifndef TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_
#define TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include <optional>

#include "absl/status/status.h"
#include "model/ops/attention_fwd_bwd.h"

namespace trainbench {

// Compares output and gradients with a float64 reference, in blocks of 64 rows,
// because one wrong block hardly changes the norm of a whole tensor.
// output_error, q_gradient_error, k_gradient_error and v_gradient_error
// (spec/check_log.h) are relative errors, in norm, of the worst blocks; each
// may be `tolerance`. Also rejects constant inputs. Inference has no gradients.
//
// On a GPU, all rows of all sequences are compared. On a CPU, as many as take
// about 0.1 s: random sequences or, of a long one, the last rows. These attend
// to all keys, and no other row sees the last keys, so the reference is exact.
absl::Status VerifyAttention(const AttentionInputs& inputs,
                             const at::Tensor& output,
                             const std::optional<AttentionGradients>& gradients,
                             double tolerance);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ATTENTION_VERIFICATION_H_
