// SPDX-License-Identifier: MIT
// Runs the check of a step and measures its memory.

#ifndef TRAINBENCH_TESTS_SUPPORT_STEP_CHECK_H_
#define TRAINBENCH_TESTS_SUPPORT_STEP_CHECK_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "fixtures/device/device.h"
#include "fixtures/memory/memory_probe.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

struct StepCheck {
  absl::Status status;
  int64_t peak_bytes = 0;  // with the step's own
};

template <typename Step, typename Params>
StepCheck RunCheck(const Params& params, const Device& device,
                   ProcessGroup& group) {
  const auto probe = MakeMemoryProbe(at::kCPU);
  std::optional<Step> step;
  probe->Observe([&] { step.emplace(params, device, group); });
  StepCheck check;
  check.peak_bytes =
      probe->MeasurePeak([&] { check.status = step->Check(); }).allocated;
  return check;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_STEP_CHECK_H_
