// SPDX-License-Identifier: MIT
// The operators of NaiveAttention, each run alone.

#ifndef TRAINBENCH_BENCHMARKS_SOFTMAX_VS_MATMUL_ATTENTION_OPS_H_
#define TRAINBENCH_BENCHMARKS_SOFTMAX_VS_MATMUL_ATTENTION_OPS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/spec/enum_names.h"

namespace trainbench {

enum class AttentionOp {
  kQk,            // Q K^T: [seq, d_head] x [d_head, seq]
  kSoftmaxNaive,  // NaiveSoftmax, then narrowing to the operands' dtype
  kSoftmaxFused,  // at::softmax
  kPv,            // P V: [seq, seq] x [seq, d_head]
};

inline constexpr EnumNames<AttentionOp, 4> AttentionOpName{
    "qk", "softmax_naive", "softmax_fused", "pv"};

constexpr bool IsMatmul(AttentionOp part) {
  return part == AttentionOp::kQk || part == AttentionOp::kPv;
}

struct AttentionOpShape {
  int64_t batch, heads, seq, d_head;
};

// qk: a = q, b = k, both [batch, heads, seq, d_head]. Softmax: a = scores,
// [batch, heads, seq, seq]; no b. pv: a = weights, like the scores; b = v.
struct AttentionOpInputs {
  at::Tensor a, b;
};

// Returns standard normal values from the default generator. Scores of such q
// and k, divided by sqrt(d_head), also have unit variance.
AttentionOpInputs RandomOpInputs(AttentionOp op, const AttentionOpShape& shape,
                                 const at::TensorOptions& options);

// Runs the operator without an autograd graph. qk: scores, neither scaled nor
// masked. Softmax: weights, with the shape and dtype of the scores. pv: [batch,
// heads, seq, d_head].
at::Tensor ComputeAttentionOp(AttentionOp op, const AttentionOpInputs& inputs);

// Compares each head of each sequence with float64. FailedPrecondition gives
// the relative error and the limit, or names a constant input.
absl::Status VerifyAttentionOp(AttentionOp op, const AttentionOpInputs& inputs);

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_SOFTMAX_VS_MATMUL_ATTENTION_OPS_H_
