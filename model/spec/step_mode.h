// SPDX-License-Identifier: MIT
// The four kinds of step that experiments measure, by name.

#ifndef TRAINBENCH_MODEL_SPEC_STEP_MODE_H_
#define TRAINBENCH_MODEL_SPEC_STEP_MODE_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class StepMode {
  kInference,        // logits, no autograd graph
  kForward,          // logits, with the autograd graph
  kForwardBackward,  // logits, loss, gradients
  kTrainStep,        // logits, loss, gradients, AdamW update
};

inline constexpr EnumNames<StepMode, 4> StepModeName{
    "inference", "forward", "forward_backward", "train_step"};
inline constexpr auto kStepModes = StepModeName.values();

inline bool HasBackward(StepMode mode) {
  return mode == StepMode::kForwardBackward || mode == StepMode::kTrainStep;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_STEP_MODE_H_
