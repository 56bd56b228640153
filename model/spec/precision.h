// SPDX-License-Identifier: MIT
// Arithmetic of a step, by name.

#ifndef TRAINBENCH_MODEL_SPEC_PRECISION_H_
#define TRAINBENCH_MODEL_SPEC_PRECISION_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class Precision {
  kFp32,          // IEEE fp32 everywhere: TF32 is off
  kTf32,          // fp32 storage, CUDA matmuls may round inputs to TF32
  kBf16Autocast,  // fp32 weights, matmuls cast to bf16 in the forward pass
  kBf16,          // bf16 weights, activations, gradients and optimizer state
};

inline constexpr std::array<Precision, 4> kPrecisions = {
    Precision::kFp32, Precision::kTf32, Precision::kBf16Autocast,
    Precision::kBf16};

// What matrix products multiply in this precision: under autocast bf16.
constexpr Precision ProductsIn(Precision precision) {
  return precision == Precision::kBf16Autocast ? Precision::kBf16 : precision;
}

// "fp32", "tf32", "bf16_autocast", "bf16".
absl::string_view PrecisionName(Precision precision);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<Precision> ParsePrecision(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PRECISION_H_
