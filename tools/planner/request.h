// SPDX-License-Identifier: MIT
// The parts of a request that both answers share:
//
//   model: a name, or a definition as in ParseModel
//   definitions: of further models that a name may have
//   implementation: instead of a named model's, with its own attention
//   attention, checkpoint: instead of the model's
//   precision, mode, batch, seq
//
// `model`, `batch` and `seq` are required.

#ifndef TRAINBENCH_TOOLS_PLANNER_REQUEST_H_
#define TRAINBENCH_TOOLS_PLANNER_REQUEST_H_

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_params.h"

namespace trainbench {

// Reads the step of the whole model. InvalidArgument or NotFound names the
// value and what is allowed.
absl::StatusOr<StepParams> ReadStep(const nlohmann::ordered_json& request);

// Reads `checkpoint`, unless it is missing.
absl::Status ReadCheckpoint(const nlohmann::ordered_json& request,
                            ModelConfig& model);

// InvalidArgument if the part has too many layers or parameters.
absl::Status CheckSize(const ModelConfig& part, Precision precision);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_REQUEST_H_
