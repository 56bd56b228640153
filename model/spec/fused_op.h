// SPDX-License-Identifier: MIT
// The memory-bound operations of a model, each measured alone, by name.

#ifndef TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
#define TRAINBENCH_MODEL_SPEC_FUSED_OP_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class FusedOp {
  kAddRmsNorm,     // residual addition, then RMSNorm
  kRope,           // rotation of queries and keys
  kSwiglu,         // silu(gate) * value
  kCausalSoftmax,  // scale, causal mask and softmax
  kCrossEntropy,   // the mean loss from logits
};

inline constexpr EnumNames<FusedOp, 5> FusedOpName{
    "add_rms_norm", "rope", "swiglu", "causal_softmax", "cross_entropy"};
inline constexpr auto kFusedOps = FusedOpName.values();

// The pass of an operation that is measured.
enum class Pass { kForward, kBackward, kBoth };

inline constexpr EnumNames<Pass, 3> PassName{"forward", "backward", "both"};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_FUSED_OP_H_
