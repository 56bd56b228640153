// SPDX-License-Identifier: MIT
// The parts of attention, each alone, as NaiveAttention chains them.

#ifndef TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_
#define TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class AttentionPart {
  kQk,            // Q K^T: [seq, d_head] x [d_head, seq]
  kSoftmaxNaive,  // NaiveSoftmax, then narrowing to the operands' dtype
  kSoftmaxFused,  // at::softmax
  kPv,            // P V: [seq, seq] x [seq, d_head]
};

inline constexpr std::array<AttentionPart, 4> kAttentionParts = {
    AttentionPart::kQk, AttentionPart::kSoftmaxNaive,
    AttentionPart::kSoftmaxFused, AttentionPart::kPv};

// "qk", "softmax_naive", "softmax_fused", "pv".
absl::string_view AttentionPartName(AttentionPart part);

constexpr bool IsMatmul(AttentionPart part) {
  return part == AttentionPart::kQk || part == AttentionPart::kPv;
}

struct AttentionPartShape {
  int64_t batch, heads, seq, d_head;
};

// qk: a = q, b = k, both [batch, heads, seq, d_head]. Softmax: a = scores,
// [batch, heads, seq, seq]; no b. pv: a = weights, like the scores; b = v.
struct AttentionPartInputs {
  at::Tensor a, b;
};

// Standard normal values from the default generator, for a softmax too: the
// scores of such q and k divided by sqrt(d_head) are like that.
AttentionPartInputs RandomPartInputs(AttentionPart part,
                                     const AttentionPartShape& shape,
                                     const at::TensorOptions& options);

// Without a graph. qk: scores, neither scaled nor masked. Softmax: weights, of
// the scores' shape and dtype. pv: [batch, heads, seq, d_head].
at::Tensor ComputeAttentionPart(AttentionPart part,
                                const AttentionPartInputs& inputs);

// Compares the last head of the last sequence with float64.
// FailedPrecondition gives the relative error and what is allowed.
absl::Status VerifyAttentionPart(AttentionPart part,
                                 const AttentionPartInputs& inputs);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_
