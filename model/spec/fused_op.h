// SPDX-License-Identifier: MIT
// The operations of a model that are bound by memory, each measured alone, by
// name.

#ifndef TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
#define TRAINBENCH_MODEL_SPEC_FUSED_OP_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class FusedOp {
  kAddRmsNorm,     // the residual added, and normed
  kRope,           // queries and keys rotated
  kSwiglu,         // silu(gate) * value
  kCausalSoftmax,  // scale, causal mask and softmax
  kCrossEntropy,   // the mean loss of logits
};

inline constexpr EnumNames<FusedOp, 5> FusedOpName{
    "add_rms_norm", "rope", "swiglu", "causal_softmax", "cross_entropy"};
inline constexpr auto kFusedOps = FusedOpName.values();

// What of an operation is measured.
enum class Pass { kForward, kBackward, kBoth };

inline constexpr EnumNames<Pass, 3> PassName{"forward", "backward", "both"};
inline constexpr auto kPasses = PassName.values();

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
