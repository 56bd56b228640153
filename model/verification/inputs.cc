// SPDX-License-Identifier: MIT

#include "model/verification/inputs.h"

#include <torch/types.h>

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

// Random ones are not equal by chance.
constexpr int64_t kEnough = 16;

}  // namespace

absl::Status CheckVaried(absl::string_view what, const at::Tensor& numbers) {
  if (numbers.numel() < kEnough) return absl::OkStatus();
  const auto [least, most] = at::aminmax(numbers.detach());
  const auto low = least.item<double>(), high = most.item<double>();
  if (!std::isfinite(low) || !std::isfinite(high)) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " holds numbers that are not finite"));
  }
  if (low < high) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, " holds nothing but ", low,
                   ": constants are faster than real data"));
}

}  // namespace trainbench
