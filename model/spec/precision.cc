// SPDX-License-Identifier: MIT

#include "model/spec/precision.h"

#include "absl/strings/str_cat.h"

namespace trainbench {

absl::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16Autocast:
      return "bf16_autocast";
    case Precision::kBf16:
      return "bf16";
  }
  return "unknown";
}

absl::StatusOr<Precision> ParsePrecision(absl::string_view name) {
  for (Precision precision : kPrecisions) {
    if (name == PrecisionName(precision)) return precision;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "precision is '", name, "'; allowed: fp32, tf32, bf16_autocast, bf16"));
}

c10::ScalarType WeightType(Precision precision) {
  return precision == Precision::kBf16 ? c10::kBFloat16 : c10::kFloat;
}

absl::string_view DtypeName(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kDouble:
      return "fp64";
    case c10::kFloat:
      return "fp32";
    case c10::kHalf:
      return "fp16";
    case c10::kBFloat16:
      return "bf16";
    default:
      return c10::toString(dtype);
  }
}

int BitsOf(c10::ScalarType dtype) {
  return 8 * static_cast<int>(c10::elementSize(dtype));
}

}  // namespace trainbench
