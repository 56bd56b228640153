// SPDX-License-Identifier: MIT
// The operators of naive attention, each measured alone, by name.

#ifndef TRAINBENCH_MODEL_SPEC_ATTENTION_OP_H_
#define TRAINBENCH_MODEL_SPEC_ATTENTION_OP_H_

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
inline constexpr auto kAttentionOps = AttentionOpName.values();

constexpr bool IsMatmul(AttentionOp part) {
  return part == AttentionOp::kQk || part == AttentionOp::kPv;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_ATTENTION_OP_H_
