// SPDX-License-Identifier: MIT
// The operations of a model that are bound by memory, each measured alone, by
// name.

#ifndef TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
#define TRAINBENCH_MODEL_SPEC_FUSED_OP_H_

#include <array>

#include "absl/strings/string_view.h"

namespace trainbench {

enum class FusedOp {
  kAddRmsNorm,     // the residual added, and normed
  kRope,           // queries and keys rotated
  kSwiglu,         // silu(gate) * value
  kCausalSoftmax,  // scale, causal mask and softmax
  kCrossEntropy,   // the mean loss of logits
};

inline constexpr std::array<FusedOp, 5> kFusedOps = {
    FusedOp::kAddRmsNorm, FusedOp::kRope, FusedOp::kSwiglu,
    FusedOp::kCausalSoftmax, FusedOp::kCrossEntropy};

// "add_rms_norm", "rope", "swiglu", "causal_softmax", "cross_entropy".
absl::string_view FusedOpName(FusedOp op);

// What of an operation is measured.
enum class Pass { kForward, kBackward, kBoth };

inline constexpr std::array<Pass, 3> kPasses = {Pass::kForward, Pass::kBackward,
                                                Pass::kBoth};

// "forward", "backward", "both".
absl::string_view PassName(Pass pass);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
