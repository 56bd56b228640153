// SPDX-License-Identifier: MIT

#include "model/ops/all_reduce_buffer.h"

#include <torch/types.h>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

// Prime, so that no two chunks of a ring or bucket hold the same values.
constexpr int64_t kPeriod = 1021;

}  // namespace

AllReduceBuffer::AllReduceBuffer(int64_t bytes, c10::Device device,
                                 ProcessGroup& group)
    : group_(group),
      values_(at::rand({bytes / static_cast<int64_t>(sizeof(float))},
                       at::device(device))) {}

absl::Status AllReduceBuffer::VerifySum() {
  const at::Tensor place =
      at::arange(values_.numel(), values_.options()).remainder_(kPeriod);
  at::mul_out(values_, place, at::scalar_tensor(group_.rank() + 1));
  Reduce();
  const int64_t ranks = group_.size();
  const at::Tensor expected =
      place.mul_(static_cast<double>(ranks * (ranks + 1) / 2));
  if (at::equal(values_, expected)) {
    values_.uniform_();
    return absl::OkStatus();
  }
  const int64_t first =
      (values_ != expected).to(at::kByte).cpu().argmax().item<int64_t>();
  return absl::DataLossError(absl::StrCat(
      "the sum over ", ranks, " ranks is ", values_[first].item<float>(),
      " instead of ", expected[first].item<float>(), " at element ", first));
}

}  // namespace trainbench
