// SPDX-License-Identifier: MIT

#include "model/nn/dtype.h"

namespace trainbench {

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
