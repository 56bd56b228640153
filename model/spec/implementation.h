// SPDX-License-Identifier: MIT
// How the layers of a model are computed, by name. All compute the same model.

#ifndef TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_
#define TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_

#include <cstdint>

#include "model/spec/enum_names.h"

namespace trainbench {

enum class Implementation {
  kTextbook,  // one operation after the other, as in the formulas
  kLibrary,   // LibTorch's operators for norm, SiLU, attention and loss
  kFused,     // model/fused: fewer passes over memory, fewer products
};

inline constexpr EnumNames<Implementation, 3> ImplementationName{
    "textbook", "library", "fused"};
inline constexpr auto kImplementations = ImplementationName.values();

// A block of our GPU kernel keeps a row of the norm in its registers.
inline constexpr int64_t kMostFusedGpuWidth = 8192;

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_
