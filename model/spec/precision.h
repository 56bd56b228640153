// SPDX-License-Identifier: MIT
// The arithmetic of a step, by name.

#ifndef TRAINBENCH_MODEL_SPEC_PRECISION_H_
#define TRAINBENCH_MODEL_SPEC_PRECISION_H_

#include <cstdint>

#include "model/spec/enum_names.h"

namespace trainbench {

enum class Precision {
  // IEEE fp32: TF32 is off, except in LibTorch's efficient attention on a GPU,
  // which splits a product into three.
  kFp32,
  kTf32,          // fp32 storage, CUDA matmuls may round inputs to TF32
  kBf16Autocast,  // fp32 weights, matmuls cast to bf16 in the forward pass
  kBf16,          // bf16 weights, activations, gradients and optimizer state
};

// The precision of the operands of matrix products: bf16 under autocast.
constexpr Precision ProductsIn(Precision precision) {
  return precision == Precision::kBf16Autocast ? Precision::kBf16 : precision;
}

// Bytes of a weight, and of an activation between layers.
constexpr int64_t WeightBytes(Precision precision) {
  return precision == Precision::kBf16 ? 2 : 4;
}
// Bytes of an operand of matrix products.
constexpr int64_t OperandBytes(Precision precision) {
  return WeightBytes(ProductsIn(precision));
}

inline constexpr EnumNames<Precision, 4> PrecisionName{"fp32", "tf32",
                                                       "bf16_autocast", "bf16"};
inline constexpr auto kPrecisions = PrecisionName.values();

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PRECISION_H_
