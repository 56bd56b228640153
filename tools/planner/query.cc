// SPDX-License-Identifier: MIT

#include "tools/planner/query.h"

#include <cstddef>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/did_you_mean.h"
#include "fixtures/experiment/run_options.h"
#include "model/spec/named_models.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr double kMaxMemoryGib = 1e6;
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

// The values of an enumeration.
template <typename Enum, std::size_t kCount>
absl::StatusOr<std::vector<Enum>> ParseList(
    absl::string_view what, absl::string_view text,
    const EnumNames<Enum, kCount>& names) {
  return ParseList<Enum>(what, text, [&](absl::string_view name) {
    return names.Parse(what, name);
  });
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

}  // namespace

void AddPlannerFlags(PlannerFlags& v, FlagParser& flags) {
  flags.Add("help", v.help, "internal: Print the flags and exit.");
  flags.Add("largest_batch", v.query.wants_batch,
            "internal: Also search for the largest batch.");
  flags.Add("operators", v.query.wants_operators,
            "internal: Also print the work of each operator.");
  flags.Add("models", v.models,
            "Comma-separated models: tiny, small, medium, large, xl, 2.7B; "
            "gpt2, gpt2-medium, gpt2-large, gpt2-xl, with the sizes and the "
            "vocabulary of GPT-2 (but with three feed-forward matrices and an "
            "untied head, and so more parameters); 8B, with sequences of 32768 "
            "tokens; a published model, for example GPT-2-1.5B, MPT-7B, "
            "Llama-3-8B or Nemotron-4-15B; or a name that --model defines. "
            "Default: the first six and the models of --model.");
  flags.AddRepeated(
      "model", v.custom_models,
      "Defines another model; may be repeated:\n"
      "name=mine,d_model=512,d_ff=2048,layers=6,heads=8\n"
      "and optionally vocab=32000 (default 10000), pad_vocab=128, kv_heads=2, "
      "tied_embeddings=true, mlp=gelu, norm=layer, biases=all, "
      "positions=learned,context=1024, attention=sdpa (default naive), "
      "implementation=fused (default textbook) and checkpoint=every_1 (default "
      "none).");
  flags.Add("batch", v.query.batch, "Sequences per step.");
  flags.Add("seq", v.query.seq, "Tokens per sequence.");
  flags.Add("tensor_ranks", v.query.tensor_ranks,
            "Tensor-parallel ranks that share each model; the answer is for "
            "the first rank's part.");
  flags.Add("precision", v.precision,
            "Comma-separated: fp32, tf32, bf16_autocast, bf16.");
  flags.Add("mode", v.mode,
            "Comma-separated: inference, forward, forward_backward, "
            "train_step.");
  flags.Add(
      "checkpoint", v.checkpoint,
      "Comma-separated: none, attention, every_1, every_2, ..., every_sqrt. "
      "The activations that the backward pass recomputes instead of storing "
      "them: the attention scores, or segments of this many blocks. Compares "
      "the largest batch and context that fit, and the FLOPs of the "
      "recomputation. Default: --model's value, otherwise none.");
  flags.Add("device_memory_gib", v.device_memory_gib, Positive(kMaxMemoryGib),
            "Memory of the device, in GiB.");
}

absl::StatusOr<ModelQuery> ReadModelQuery(const PlannerFlags& flags) {
  ModelQuery query = flags.query;
  RETURN_IF_ERROR(ValidateShape(query.batch, query.seq));
  query.device_memory_bytes =
      static_cast<int64_t>(flags.device_memory_gib * kBytesPerGib);

  ASSIGN_OR_RETURN(const auto models, SelectModels(flags));
  for (const ModelConfig& whole : models) {
    RETURN_IF_ERROR(ValidateParts(whole, query.tensor_ranks));
    query.models.push_back(PartOf(whole, 0, query.tensor_ranks));
  }
  ASSIGN_OR_RETURN(query.precisions,
                   ParseList("precision", flags.precision, PrecisionName));
  ASSIGN_OR_RETURN(query.modes, ParseList("mode", flags.mode, StepModeName));
  if (!flags.checkpoint.empty()) {
    ASSIGN_OR_RETURN(query.checkpointing,
                     ParseList<Checkpointing>("checkpoint", flags.checkpoint,
                                              ParseCheckpointing));
  }
  query.wants_batch |= !query.checkpointing.empty();
  return query;
}

}  // namespace trainbench
