// SPDX-License-Identifier: MIT

#include "benchmarks/transfer/transfer.h"

#include <torch/types.h>

#include <new>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

constexpr int64_t kWord = sizeof(int64_t);
// kMemset writes kPattern, in which neighboring bytes differ. No transfer
// writes kPoison, which is negative: random_() draws no negative values.
constexpr int64_t kPattern = 0x0123456789abcdef;
constexpr int64_t kPoison = -0x0fedcba987654321;

bool IsPinned(TransferKind kind) {
  return kind == TransferKind::kH2dPinned || kind == TransferKind::kD2hPinned;
}

bool ToHost(TransferKind kind) {
  return kind == TransferKind::kD2hPinned || kind == TransferKind::kD2hPageable;
}

bool ToDevice(TransferKind kind) {
  return kind == TransferKind::kH2dPinned || kind == TransferKind::kH2dPageable;
}

// Whether source and destination are in the same memory.
bool IsWithin(TransferKind kind) {
  return kind == TransferKind::kD2d || kind == TransferKind::kMemcpy;
}

at::Tensor Buffer(int64_t bytes, c10::Device device, bool pinned) {
  const bool host = pinned && device.is_cpu();
  const auto options = at::device(device).dtype(at::kLong);
  try {
    return at::empty({bytes / kWord}, options.pinned_memory(host));
  } catch (const c10::Error& error) {
    // CUDA reports the same error for device memory and pinned host memory.
    const std::string_view what = error.what_without_backtrace();
    if (!host || what.find("out of memory") == what.npos) throw;
    throw std::bad_alloc();
  }
}

}  // namespace

std::vector<TransferKind> TransferKinds(c10::DeviceType device) {
  using enum TransferKind;
  if (device == c10::kCPU) return {kMemcpy, kMemset};
  return {kH2dPinned, kH2dPageable, kD2hPinned, kD2hPageable, kD2d};
}

double TransferTraffic(TransferKind kind, int64_t bytes) {
  return (IsWithin(kind) ? 2.0 : 1.0) * static_cast<double>(bytes);
}

Transfer::Transfer(TransferKind kind, int64_t bytes, c10::Device device)
    : kind_(kind) {
  const bool pinned = IsPinned(kind);
  destination_ = Buffer(bytes, ToHost(kind) ? at::kCPU : device, pinned);
  if (kind == TransferKind::kMemset) return;
  source_ =
      FillVaried(Buffer(bytes, ToDevice(kind) ? at::kCPU : device, pinned));
}

void Transfer::Enqueue() {
  if (kind_ == TransferKind::kMemset) {
    destination_.fill_(kPattern);
  } else {
    destination_.copy_(source_, /*non_blocking=*/IsPinned(kind_));
  }
}

void Transfer::Poison() { destination_.fill_(kPoison); }

absl::Status Transfer::CheckArrived() const {
  const at::Tensor arrived = destination_.cpu();
  const at::Tensor expected = kind_ == TransferKind::kMemset
                                  ? at::full({}, kPattern, at::kLong)
                                  : source_.cpu();
  const int64_t wrong = arrived.ne(expected).sum().item<int64_t>();
  if (wrong == 0) {
    return source_.defined() ? CheckVaried("the source", source_)
                             : absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrFormat("%d of %d words did not arrive", wrong, arrived.numel()));
}

}  // namespace trainbench
