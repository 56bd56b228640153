// SPDX-License-Identifier: MIT
// The parameters of one step of the language model in an experiment.

#ifndef TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_
#define TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_

#include <cstdint>

#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"

namespace trainbench {

struct StepParams {
  ModelConfig model;
  Precision precision = Precision::kFp32;
  StepMode mode = StepMode::kTrainStep;
  int64_t batch = 1;
  int64_t seq = 1;

  bool has_backward() const { return HasBackward(mode); }
  bool operator==(const StepParams&) const = default;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_STEP_PARAMS_H_
