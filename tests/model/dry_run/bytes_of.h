// SPDX-License-Identifier: MIT
// What tensors take while a step runs, real or dry.

#ifndef TRAINBENCH_TESTS_MODEL_DRY_RUN_BYTES_OF_H_
#define TRAINBENCH_TESTS_MODEL_DRY_RUN_BYTES_OF_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <ostream>

#include "fixtures/memory/memory_account.h"

namespace trainbench {

// Bytes of tensors.
struct Bytes {
  int64_t resident = 0, peak = 0, after = 0;
  bool operator==(const Bytes&) const = default;
};

inline void PrintTo(const Bytes& bytes, std::ostream* out) {
  *out << "resident " << bytes.resident << ", peak " << bytes.peak << ", after "
       << bytes.after;
}

// `make` returns a pointer to a warm step, whose Run() is observed.
template <typename Make>
Bytes BytesOf(c10::Device device, const Make& make) {
  const auto account = std::make_shared<MemoryAccount>(device);
  decltype(make()) step;
  ObserveMemory(account, [&] { step = make(); });
  Bytes bytes = {.resident = account->LiveBytes()};
  account->ResetPeak();
  ObserveMemory(account, [&] { step->Run(); });
  bytes.peak = account->PeakBytes();
  bytes.after = account->LiveBytes();
  return bytes;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_DRY_RUN_BYTES_OF_H_
