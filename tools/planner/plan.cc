// SPDX-License-Identifier: MIT

#include "tools/planner/plan.h"

#include <ATen/Parallel.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "fixtures/prediction/dry_call.h"
#include "fixtures/ranks/errors.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

absl::Status TooLarge(const StepParams& step, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", step.model.name, "' at batch ", step.batch, " and seq ",
      step.seq, " has ", what, "; allowed: a smaller model, batch or seq"));
}

absl::Status CheckStep(const StepParams& step, const Device& device) {
  StepParams on_cpu = step;
  // tf32 needs the same bytes as fp32, but only GPUs have it.
  if (step.precision == Precision::kTf32) on_cpu.precision = Precision::kFp32;
  const std::string why = ModelStep::Unavailable(on_cpu, device);
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", step.model.name, "': ", why));
}

// Returns all models with each checkpointing; the models vary fastest.
std::vector<ModelConfig> ModelsOf(const Query& query) {
  if (query.checkpointing.empty()) return query.models;
  std::vector<ModelConfig> models;
  for (const Checkpointing& checkpointing : query.checkpointing) {
    for (ModelConfig model : query.models) {
      model.checkpointing = checkpointing;
      models.push_back(std::move(model));
    }
  }
  return models;
}

std::vector<StepParams> StepsOf(const Query& query) {
  std::vector<StepParams> steps;
  const std::vector<ModelConfig> models = ModelsOf(query);
  for (const Precision precision : query.precisions) {
    for (const StepMode mode : query.modes) {
      for (const ModelConfig& model : models) {
        steps.push_back({model, precision, mode, query.batch, query.seq});
      }
    }
  }
  return steps;
}

Json ModelQueryJson(const Query& query) {
  Json json = {{"batch", query.batch},
               {"seq", query.seq},
               {"tensor_ranks", query.tensor_ranks},
               {"device_memory_bytes", query.device_memory_bytes}};
  const auto add = [&](const char* key, const auto& all, const auto& name) {
    for (const auto& one : all) json[key].push_back(std::invoke(name, one));
  };
  add("models", query.models, &ModelConfig::name);
  add("precisions", query.precisions, PrecisionName);
  add("modes", query.modes, StepModeName);
  add("checkpoints", query.checkpointing, CheckpointingName);
  return json;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> PlanModels(const Query& query) {
  ASSIGN_OR_RETURN(const auto device, OpenDevice("cpu"));
  at::set_num_threads(1);  // the answer is the same on any machine
  const std::vector<StepParams> steps = StepsOf(query);
  // All steps are checked first, so that an error comes before any long plan.
  for (const StepParams& step : steps) {
    RETURN_IF_ERROR(CheckStep(step, device));
  }
  Json rows = Json::array();
  for (const StepParams& step : steps) {
    const absl::Status status =
        CatchToStatus([&] { rows.push_back(ModelRow(step, query, device)); });
    if (absl::StrContains(status.message(), "overflow")) {
      return TooLarge(step, "too many bytes to count");
    }
    if (absl::StrContains(status.message(), kTooManyOperators)) {
      return TooLarge(step, kTooManyOperators);
    }
    RETURN_IF_ERROR(status);
  }
  return Json({{"query", ModelQueryJson(query)}, {"rows", rows}});
}

}  // namespace trainbench
