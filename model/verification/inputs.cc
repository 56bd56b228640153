// SPDX-License-Identifier: MIT

#include "model/verification/inputs.h"

#include <torch/types.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

// Fewer random numbers may all be equal by chance.
constexpr int64_t kEnough = 16;

constexpr int64_t kPeriod = 1'000'003;

}  // namespace

at::Tensor FillVaried(at::Tensor numbers) {
  const int64_t count = numbers.numel();
  const at::Tensor first = numbers.narrow(0, 0, std::min(kPeriod, count));
  if (numbers.is_floating_point()) {
    first.uniform_();
  } else {
    first.random_();
  }
  for (int64_t begin = kPeriod; begin < count; begin += kPeriod) {
    const int64_t length = std::min(kPeriod, count - begin);
    numbers.narrow(0, begin, length).copy_(first.narrow(0, 0, length));
  }
  return numbers;
}

ValueRange RangeOf(const at::Tensor& numbers) {
  const auto [least, most] = at::aminmax(numbers.detach());
  return {least.item<double>(), most.item<double>()};
}

absl::Status CheckVaried(absl::string_view what, const at::Tensor& numbers) {
  if (numbers.numel() < kEnough) return absl::OkStatus();
  const ValueRange range = RangeOf(numbers);
  if (!range.is_finite()) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " has values that are not finite"));
  }
  if (range.least < range.most) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, " has no value other than ", range.least,
                   ": constants compute faster than real data"));
}

}  // namespace trainbench
