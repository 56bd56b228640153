// SPDX-License-Identifier: MIT

#include "model/verification/relative_error.h"

#include <torch/types.h>

namespace trainbench {

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble);
  const auto difference = (actual.to(at::kDouble) - wide).norm().item<double>();
  return difference == 0 ? 0 : difference / wide.norm().item<double>();
}

}  // namespace trainbench
