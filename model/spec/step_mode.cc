// SPDX-License-Identifier: MIT

#include "model/spec/step_mode.h"

#include "model/spec/not_allowed.h"

namespace trainbench {

absl::string_view StepModeName(StepMode mode) {
  switch (mode) {
    case StepMode::kInference:
      return "inference";
    case StepMode::kForward:
      return "forward";
    case StepMode::kForwardBackward:
      return "forward_backward";
    case StepMode::kTrainStep:
      return "train_step";
  }
  return "unknown";
}

absl::StatusOr<StepMode> ParseStepMode(absl::string_view name) {
  return ParseName("mode", name, kStepModes, StepModeName);
}

}  // namespace trainbench
