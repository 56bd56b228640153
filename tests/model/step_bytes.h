// SPDX-License-Identifier: MIT
// The memory of tensors during a step, real or dry.

#ifndef TRAINBENCH_TESTS_MODEL_STEP_BYTES_H_
#define TRAINBENCH_TESTS_MODEL_STEP_BYTES_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <ostream>

#include "fixtures/memory/allocation_recorder.h"

namespace trainbench {

// Bytes of tensors: after building, before the step, at the step's peak, and
// after it.
struct StepBytes {
  int64_t built = 0, resident = 0, peak = 0, after = 0;
  bool operator==(const StepBytes&) const = default;
};

inline void PrintTo(const StepBytes& bytes, std::ostream* out) {
  *out << "built " << bytes.built << ", resident " << bytes.resident
       << ", peak " << bytes.peak << ", after " << bytes.after;
}

// After `warmups` steps, memory use no longer grows: the first one creates the
// rotary tables.
inline StepBytes MeasureSteps(c10::Device device,
                              const std::function<void()>& build,
                              const std::function<void()>& step,
                              int warmups = 1) {
  AllocationRecorder recorder(device);
  recorder.Observe(build);
  const int64_t built = recorder.LiveBytes();
  for (int i = 0; i < warmups; ++i) recorder.Observe(step);
  const AllocationTimeline timeline =
      recorder.Record([&](PhaseObserver&) { step(); });
  return {built, timeline.live_before, timeline.peak_bytes,
          timeline.live_after};
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_STEP_BYTES_H_
