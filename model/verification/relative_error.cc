// SPDX-License-Identifier: MIT

#include "model/verification/relative_error.h"

#include <torch/types.h>

#include <cmath>
#include <cstddef>

namespace trainbench {

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble);
  const auto difference = (actual.to(at::kDouble) - wide).norm().item<double>();
  return difference == 0 ? 0 : difference / wide.norm().item<double>();
}

double RelativeError(const std::vector<at::Tensor>& actual,
                     const std::vector<at::Tensor>& expected) {
  const auto square = [](const at::Tensor& x) {
    const auto norm =
        x.detach().norm(2, at::kDouble).item<double>();  // summed in float64
    return norm * norm;
  };
  double difference = 0, whole = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += square(actual.at(i) - expected[i]);
    whole += square(expected[i]);
  }
  return difference == 0 ? 0 : std::sqrt(difference / whole);
}

}  // namespace trainbench
