// SPDX-License-Identifier: MIT

#include "tools/planner/query.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/did_you_mean.h"

namespace trainbench {
namespace {

constexpr double kMaxMemoryGib = 1 << 20;
constexpr double kBytesPerGib = 1 << 30;

absl::Status GivenTwice(absl::string_view what, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", value, "' is given twice; allowed: once"));
}

// Every item of `text`, parsed; InvalidArgument if one is there twice.
template <typename T, typename Parse>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view what,
                                         absl::string_view text,
                                         const Parse& parse) {
  std::vector<T> values;
  std::set<absl::string_view> seen;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    absl::StatusOr<T> value = parse(item);
    if (!value.ok()) return value.status();
    if (!seen.insert(item).second) return GivenTwice(what, item);
    values.push_back(*std::move(value));
  }
  return values;
}

// The standard models and those that the user defines.
absl::StatusOr<std::vector<ModelConfig>> KnownModels(
    absl::string_view definitions) {
  std::vector<ModelConfig> models = StandardModels();
  if (definitions.empty()) return models;
  for (absl::string_view text : absl::StrSplit(definitions, ';')) {
    absl::StatusOr<ModelConfig> model = ParseModel(text);
    if (!model.ok()) return model.status();
    if (FindModel(model->name, models).ok()) {
      return GivenTwice("model", model->name);
    }
    models.push_back(*std::move(model));
  }
  return models;
}

absl::StatusOr<ModelConfig> FindModelOrNearest(
    absl::string_view name, const std::vector<ModelConfig>& models) {
  absl::StatusOr<ModelConfig> model = FindModel(name, models);
  if (model.ok()) return model;
  std::vector<std::string> names;
  for (const ModelConfig& known : models) names.push_back(known.name);
  const std::vector<std::string> nearest = Nearest(name, names, 1);
  if (nearest.empty()) return model;
  return absl::NotFoundError(absl::StrCat(
      model.status().message(), "; did you mean '", nearest[0], "'?"));
}

absl::StatusOr<std::vector<ModelConfig>> SelectModels(const PlanFlags& flags) {
  const absl::StatusOr<std::vector<ModelConfig>> known =
      KnownModels(flags.model);
  if (!known.ok() || flags.models.empty()) return known;
  return ParseList<ModelConfig>(
      "model", flags.models,
      [&](absl::string_view name) { return FindModelOrNearest(name, *known); });
}

absl::Status ValidateMemory(double gib) {
  if (gib > 0 && gib <= kMaxMemoryGib) return absl::OkStatus();  // false if NaN
  return absl::InvalidArgumentError(
      absl::StrCat("device_memory_gib is ", gib, "; allowed: above 0, up to ",
                   static_cast<int64_t>(kMaxMemoryGib)));
}

}  // namespace

absl::StatusOr<PlanQuery> ParsePlanQuery(const PlanFlags& flags) {
  absl::Status status = ValidateShape(flags.batch, flags.seq);
  if (status.ok()) status = ValidateMemory(flags.device_memory_gib);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<ModelConfig>> models = SelectModels(flags);
  if (!models.ok()) return models.status();
  absl::StatusOr<std::vector<Precision>> precisions =
      ParseList<Precision>("precision", flags.precision, ParsePrecision);
  if (!precisions.ok()) return precisions.status();
  absl::StatusOr<std::vector<StepMode>> modes =
      ParseList<StepMode>("mode", flags.mode, ParseStepMode);
  if (!modes.ok()) return modes.status();
  return PlanQuery{
      *std::move(models),
      *std::move(precisions),
      *std::move(modes),
      flags.batch,
      flags.seq,
      static_cast<int64_t>(flags.device_memory_gib * kBytesPerGib)};
}

}  // namespace trainbench
