// SPDX-License-Identifier: MIT
// The four kinds of step that experiments measure, by name.

#ifndef TRAINBENCH_MODEL_SPEC_STEP_MODE_H_
#define TRAINBENCH_MODEL_SPEC_STEP_MODE_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class StepMode {
  kInference,        // logits, without a graph
  kForward,          // logits, with the graph of a backward pass
  kForwardBackward,  // logits, loss, gradients
  kTrainStep,        // logits, loss, gradients, AdamW update
};

inline constexpr std::array<StepMode, 4> kStepModes = {
    StepMode::kInference, StepMode::kForward, StepMode::kForwardBackward,
    StepMode::kTrainStep};

// "inference", "forward", "forward_backward", "train_step".
absl::string_view StepModeName(StepMode mode);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<StepMode> ParseStepMode(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_STEP_MODE_H_
