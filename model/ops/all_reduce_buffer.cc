// SPDX-License-Identifier: MIT

#include "model/ops/all_reduce_buffer.h"

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

// Prime, so that no two chunks of a ring or bucket hold the same values.
constexpr int64_t kPeriod = 1021;

// Elements of a part, whole periods: 16 MiB.
constexpr int64_t kPart = kPeriod * 4096;

// Far below the largest fp32, 2^128, for the calls that nobody prepares.
constexpr double kLargest = 0x1p60;

}  // namespace

int64_t AllReduceBuffer::PeakBytes(int64_t bytes) {
  return bytes + std::min(bytes, kPart * int64_t{sizeof(float)});
}

AllReduceBuffer::AllReduceBuffer(int64_t bytes, c10::Device device,
                                 ProcessGroup& group)
    : group_(group),
      values_(at::rand({bytes / static_cast<int64_t>(sizeof(float))},
                       at::device(device))) {}

void AllReduceBuffer::Reduce() {
  group_.AllReduce(values_);
  growth_ *= group_.size();
}

void AllReduceBuffer::KeepFinite() {
  if (growth_ < kLargest) return;
  values_.mul_(1 / growth_);
  growth_ = 1;
}

absl::Status AllReduceBuffer::CheckValues() const {
  return CheckVaried("the buffer", values_);
}

absl::Status AllReduceBuffer::VerifySum() {
  const int64_t part = std::min(kPart, values_.numel());
  const at::Tensor place =
      at::arange(part, values_.options()).remainder_(kPeriod);
  const std::vector<at::Tensor> parts = values_.split(part);
  for (at::Tensor values : parts) {
    at::mul_out(values, place.narrow(0, 0, values.numel()),
                at::scalar_tensor(group_.rank() + 1));
  }
  Reduce();
  const int64_t ranks = group_.size();
  const at::Tensor sum =
      place.mul_(static_cast<double>(ranks * (ranks + 1) / 2));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const at::Tensor expected = sum.narrow(0, 0, parts[i].numel());
    if (at::equal(parts[i], expected)) continue;
    const int64_t first =
        (parts[i] != expected).to(at::kByte).cpu().argmax().item<int64_t>();
    return absl::DataLossError(absl::StrCat(
        "the sum over ", ranks, " ranks is ", parts[i][first].item<float>(),
        " instead of ", expected[first].item<float>(), " at element ",
        static_cast<int64_t>(i) * part + first));
  }
  values_.uniform_();
  growth_ = 1;
  return absl::OkStatus();
}

}  // namespace trainbench
