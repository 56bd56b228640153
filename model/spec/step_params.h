// SPDX-License-Identifier: MIT
// The kinds of step that experiments measure, by name, and the parameters of
// one step of the language model.

#ifndef TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_
#define TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_

#include <cstdint>

#include "model/spec/config.h"
#include "model/spec/enum_names.h"
#include "model/spec/precision.h"

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

struct StepParams {
  ModelConfig model;
  Precision precision = Precision::kFp32;
  StepMode mode = StepMode::kTrainStep;
  int64_t batch = 1;
  int64_t seq = 1;

  bool has_backward() const { return HasBackward(mode); }
  int64_t tokens() const { return batch * seq; }
  bool operator==(const StepParams&) const = default;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_
