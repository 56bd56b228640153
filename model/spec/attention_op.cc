// SPDX-License-Identifier: MIT

#include "model/spec/attention_op.h"

namespace trainbench {

absl::string_view AttentionOpName(AttentionOp part) {
  switch (part) {
    case AttentionOp::kQk:
      return "qk";
    case AttentionOp::kSoftmaxNaive:
      return "softmax_naive";
    case AttentionOp::kSoftmaxFused:
      return "softmax_fused";
    case AttentionOp::kPv:
      return "pv";
  }
  return "unknown";
}

}  // namespace trainbench
