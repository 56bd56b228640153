// SPDX-License-Identifier: MIT

#include "tools/planner/request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fixtures/base/did_you_mean.h"
#include "model/accounting/parameters.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

// Building more layers takes too long even in a dry run.
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostParameterBytes = int64_t{1} << 50;

absl::StatusOr<ModelConfig> ReadDefinition(const std::string& text) {
  absl::StatusOr<ModelConfig> model = ParseModel(text);
  if (model.ok()) return model;
  return absl::InvalidArgumentError(
      absl::StrCat("--model is '", text, "'; ", model.status().message()));
}

absl::StatusOr<ModelConfig> ReadModel(const Json& request) {
  const std::string text = request.at("model");
  std::vector<ModelConfig> known = NamedModels();
  for (const std::string definition :
       request.value("definitions", Json::array())) {
    ASSIGN_OR_RETURN(auto model, ReadDefinition(definition));
    if (FindModel(model.name, known).ok()) {
      return NotAllowed("--model",
                        absl::StrCat("given twice as '", model.name, "'"),
                        "a name of its own for each model");
    }
    known.push_back(std::move(model));
  }
  if (absl::StrContains(text, '=')) return ReadDefinition(text);
  absl::StatusOr<ModelConfig> model = FindModel(text, known);
  if (model.ok()) return model;
  std::vector<std::string> names;
  for (const ModelConfig& each : known) names.push_back(each.name);
  const std::vector<std::string> nearest = DidYouMean(text, names, 1);
  if (nearest.empty()) return model;
  return absl::NotFoundError(absl::StrCat(
      model.status().message(), "; did you mean '", nearest[0], "'?"));
}

// Reads a choice unless it is missing.
template <typename Enum, std::size_t kCount>
absl::Status ReadChoice(const Json& request, const char* key,
                        const EnumNames<Enum, kCount>& names, Enum& choice) {
  if (!request.contains(key)) return absl::OkStatus();
  ASSIGN_OR_RETURN(choice, names.Parse(key, std::string(request.at(key))));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StepParams> ReadStep(const Json& request) {
  StepParams step;
  ASSIGN_OR_RETURN(step.model, ReadModel(request));
  ModelConfig& model = step.model;
  if (request.contains("implementation")) {
    RETURN_IF_ERROR(ReadChoice(request, "implementation", ImplementationName,
                               model.implementation));
    model.attention = AttentionOf(model.implementation);
  }
  RETURN_IF_ERROR(
      ReadChoice(request, "attention", AttentionName, model.attention));
  RETURN_IF_ERROR(ReadCheckpoint(request, model));
  RETURN_IF_ERROR(
      ReadChoice(request, "precision", PrecisionName, step.precision));
  RETURN_IF_ERROR(ReadChoice(request, "mode", StepModeName, step.mode));
  step.batch = request.at("batch");
  step.seq = request.at("seq");
  return step;
}

absl::Status ReadCheckpoint(const Json& request, ModelConfig& model) {
  if (!request.contains("checkpoint")) return absl::OkStatus();
  const std::string name = request.at("checkpoint");
  ASSIGN_OR_RETURN(model.checkpointing, ParseCheckpointing(name));
  return absl::OkStatus();
}

absl::Status CheckSize(const ModelConfig& part, Precision precision) {
  if (part.layers > kMostLayers) {
    return NotAllowed("layers", part.layers,
                      absl::StrCat("1 to ", kMostLayers));
  }
  if (ParameterBytes(part, precision) <= kMostParameterBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model '", part.name,
                   "' has too many bytes to count; allowed: a smaller model"));
}

}  // namespace trainbench
