// SPDX-License-Identifier: MIT

#include "model/spec/fused_op.h"

namespace trainbench {

absl::string_view FusedOpName(FusedOp op) {
  switch (op) {
    case FusedOp::kAddRmsNorm:
      return "add_rms_norm";
    case FusedOp::kRope:
      return "rope";
    case FusedOp::kSwiglu:
      return "swiglu";
    case FusedOp::kCausalSoftmax:
      return "causal_softmax";
    case FusedOp::kCrossEntropy:
      return "cross_entropy";
  }
  return "unknown";
}

absl::string_view PassName(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackward:
      return "backward";
    case Pass::kBoth:
      return "both";
  }
  return "unknown";
}

}  // namespace trainbench
