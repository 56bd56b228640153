// SPDX-License-Identifier: MIT
// Transfers between host and device, within a device, and within a host.

#ifndef TRAINBENCH_BENCHMARKS_TRANSFER_TRANSFER_H_
#define TRAINBENCH_BENCHMARKS_TRANSFER_TRANSFER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "model/spec/enum_names.h"

namespace trainbench {

enum class TransferKind {
  kH2dPinned,    // page-locked host memory to device, asynchronously
  kH2dPageable,  // ordinary host memory to device; the host waits
  kD2hPinned,
  kD2hPageable,
  kD2d,     // within one GPU
  kMemcpy,  // within the host
  kMemset,  // fills host memory with one value
};

inline constexpr EnumNames<TransferKind, 7> TransferKindName{
    "h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable",
    "d2d",        "memcpy",       "memset"};

// Returns the kinds that exist on a device of this type.
std::vector<TransferKind> TransferKinds(c10::DeviceType device);

// Returns the counted bytes of a transfer of `bytes`: 2 * bytes for a copy
// within one memory (read and written), bytes for a copy between host and
// device (crosses the link once), bytes for kMemset (only written).
double TransferTraffic(TransferKind kind, int64_t bytes);

// Source and destination of one transfer; the source is random.
class Transfer {
 public:
  // `bytes` is a positive multiple of 8.
  Transfer(TransferKind kind, int64_t bytes, c10::Device device);

  // Enqueues one transfer on the device's current stream.
  void Enqueue();

  // Overwrites the destination with values that no transfer writes.
  void Poison();

  // Checks that the destination equals the source. Call it once the device is
  // idle. FailedPrecondition gives the number of wrong words, or reports a
  // constant source.
  absl::Status CheckArrived() const;

 private:
  TransferKind kind_;
  at::Tensor source_;       // int64; empty for kMemset
  at::Tensor destination_;  // int64
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_TRANSFER_TRANSFER_H_
