// SPDX-License-Identifier: MIT

#include "tools/planner/query.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/did_you_mean.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr double kMaxMemoryGib = 1 << 20;
constexpr double kBytesPerGib = 1 << 30;

absl::Status GivenTwice(absl::string_view what, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", value, "' is given twice; allowed: once"));
}

// Parses each item of `text`. InvalidArgument if an item occurs twice.
template <typename T, typename Parse>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view what,
                                         absl::string_view text,
                                         const Parse& parse) {
  std::vector<T> values;
  std::set<absl::string_view> seen;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(auto value, parse(item));
    if (!seen.insert(item).second) return GivenTwice(what, item);
    values.push_back(std::move(value));
  }
  return values;
}

// The standard models and the user's.
absl::StatusOr<std::vector<ModelConfig>> KnownModels(
    const std::vector<ModelConfig>& custom) {
  std::vector<ModelConfig> models = NamedModels();
  for (const ModelConfig& model : custom) {
    if (FindModel(model.name, models).ok()) {
      return GivenTwice("model", model.name);
    }
    models.push_back(model);
  }
  return models;
}

absl::StatusOr<ModelConfig> FindModelOrNearest(
    absl::string_view name, const std::vector<ModelConfig>& models) {
  absl::StatusOr<ModelConfig> model = FindModel(name, models);
  if (model.ok()) return model;
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const ModelConfig& known : models) names.push_back(known.name);
  const std::vector<std::string> nearest = DidYouMean(name, names, 1);
  if (nearest.empty()) return model;
  return absl::NotFoundError(absl::StrCat(
      model.status().message(), "; did you mean '", nearest[0], "'?"));
}

absl::StatusOr<std::vector<ModelConfig>> SelectModels(
    const PlannerFlags& flags) {
  const std::vector<ModelConfig>& custom = flags.custom_models;
  ASSIGN_OR_RETURN(const auto known, KnownModels(custom));
  if (flags.models.empty()) {
    std::vector<ModelConfig> models = StandardModels();
    models.insert(models.end(), custom.begin(), custom.end());
    return models;
  }
  return ParseList<ModelConfig>(
      "model", flags.models,
      [&](absl::string_view name) { return FindModelOrNearest(name, known); });
}

absl::Status ValidateMemory(double gib) {
  if (gib > 0 && gib <= kMaxMemoryGib) return absl::OkStatus();  // false if NaN
  return NotAllowed(
      "device_memory_gib", gib,
      absl::StrCat("above 0, up to ", static_cast<int64_t>(kMaxMemoryGib)));
}

}  // namespace

absl::StatusOr<ModelQuery> ReadModelQuery(const PlannerFlags& flags) {
  ModelQuery query = flags.query;
  RETURN_IF_ERROR(ValidateShape(query.batch, query.seq));
  RETURN_IF_ERROR(ValidateMemory(flags.device_memory_gib));
  query.device_memory_bytes =
      static_cast<int64_t>(flags.device_memory_gib * kBytesPerGib);

  ASSIGN_OR_RETURN(const auto models, SelectModels(flags));
  for (const ModelConfig& whole : models) {
    RETURN_IF_ERROR(ValidateParts(whole, query.tensor_ranks));
    query.models.push_back(PartOf(whole, 0, query.tensor_ranks));
  }
  ASSIGN_OR_RETURN(
      query.precisions,
      ParseList<Precision>("precision", flags.precision, ParsePrecision));
  ASSIGN_OR_RETURN(query.modes,
                   ParseList<StepMode>("mode", flags.mode, ParseStepMode));
  if (!flags.checkpoint.empty()) {
    ASSIGN_OR_RETURN(query.checkpointing,
                     ParseList<Checkpointing>("checkpoint", flags.checkpoint,
                                              ParseCheckpointing));
  }
  query.wants_batch |= !query.checkpointing.empty();
  return query;
}

}  // namespace trainbench
