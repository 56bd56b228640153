// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TESTS_MODEL_DISTRIBUTED_STEP_BYTES_H_
#define TRAINBENCH_TESTS_MODEL_DISTRIBUTED_STEP_BYTES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>

#include "fixtures/memory/memory_account.h"

namespace trainbench {

// Bytes of a rank's tensors on the CPU: when model and trainer are there,
// between steps, and at the highest point of a step.
struct StepBytes {
  int64_t built = 0, resident = 0, peak = 0;
  bool operator==(const StepBytes&) const = default;
};

inline void PrintTo(const StepBytes& bytes, std::ostream* out) {
  *out << "built " << bytes.built << ", resident " << bytes.resident
       << ", peak " << bytes.peak;
}

// `first` takes the steps after which nothing new is kept.
inline StepBytes MeasureSteps(const std::function<void()>& build,
                              const std::function<void()>& first,
                              const std::function<void()>& step) {
  const auto account = std::make_shared<MemoryAccount>(at::kCPU);
  ObserveMemory(account, build);
  StepBytes bytes = {.built = account->LiveBytes()};
  ObserveMemory(account, first);
  bytes.resident = account->LiveBytes();
  account->ResetPeak();
  ObserveMemory(account, step);
  bytes.peak = account->PeakBytes();
  EXPECT_EQ(account->LiveBytes(), bytes.resident);
  return bytes;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_DISTRIBUTED_STEP_BYTES_H_
