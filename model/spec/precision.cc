// SPDX-License-Identifier: MIT

#include "model/spec/precision.h"

#include "model/spec/not_allowed.h"

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
  return ParseName("precision", name, kPrecisions, PrecisionName);
}

}  // namespace trainbench
