// SPDX-License-Identifier: MIT

#include "tools/planner/flags.h"

#include <set>
#include <type_traits>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/did_you_mean.h"
#include "model/spec/not_allowed.h"

ABSL_FLAG(bool, help, false, "Print this and exit.");
ABSL_FLAG(bool, json, false, "Print JSON, with raw numbers, instead of text.");
ABSL_FLAG(
    bool, parallel, false,
    "Prints what data, FSDP and tensor parallelism send and where they "
    "stop paying off, with the formulas, instead of the costs of models.");

ABSL_FLAG(
    std::string, models, "",
    "Comma-separated models: tiny, small, medium, large, xl, 2.7B; gpt2, "
    "gpt2-medium, gpt2-large, gpt2-xl, with the sizes and the vocabulary "
    "of GPT-2 (but with three matrices in the feed-forward part and a head "
    "of its own, so with more parameters); or a name that --model defines. "
    "Default: the first six and those of --model.");
ABSL_FLAG(int64_t, batch, 4, "Sequences in one step.");
ABSL_FLAG(int64_t, seq, 512, "Tokens in one sequence.");
ABSL_FLAG(std::string, precision, "fp32",
          "Comma-separated: fp32, tf32, bf16_autocast, bf16.");
ABSL_FLAG(std::string, mode, "train_step",
          "Comma-separated: inference, forward, forward_backward, "
          "train_step.");
ABSL_FLAG(double, device_memory_gib, 80,
          "Memory of the device, in units of 2^30 bytes.");

ABSL_FLAG(int64_t, tokens, trainbench::kDefaultTokens,
          "Tokens to train on, for --mfu and --measured. With --parallel B, "
          "tokens in the whole batch.");
ABSL_FLAG(int64_t, d_model, 16384, "With --parallel: D.");
ABSL_FLAG(int64_t, d_ff, 53248, "With --parallel: F.");
ABSL_FLAG(int64_t, ffn_matrices, 3,
          "With --parallel: m, D x F matrices of the layer whose bounds are "
          "printed; 3 in a SwiGLU. (The sharded model's blocks have 2.)");
ABSL_FLAG(int64_t, blocks, 126,
          "With --parallel: L, blocks of the sharded model.");
ABSL_FLAG(double, state_bytes_per_param, 16,
          "With --parallel: weight, gradient and optimizer state.");
ABSL_FLAG(double, value_bytes, 2,
          "With --parallel: b, bytes of an activation, or a weight as sent.");
ABSL_FLAG(double, device_tflops, 460,
          "With --parallel: C, of one device, in 10^12 FLOP/s.");
ABSL_FLAG(double, link_gb_per_s, 180,
          "With --parallel: W, of one axis of links in both directions, in "
          "10^9 bytes/s.");
ABSL_FLAG(int64_t, fsdp_ranks, 16, "With --parallel: X.");
ABSL_FLAG(int64_t, tensor_ranks, 4, "With --parallel: Y.");
ABSL_FLAG(int64_t, fsdp_axes, 2, "With --parallel: M_X, axes of the links.");
ABSL_FLAG(int64_t, tensor_axes, 1, "With --parallel: M_Y, axes of the links.");
ABSL_FLAG(double, gpu_gb, 80,
          "With --parallel: memory of a GPU; printed for units of 10^9 and of "
          "2^30 bytes.");
ABSL_FLAG(double, fsdp_device_gb, 95,
          "With --parallel: memory of a device under FSDP, in 10^9 bytes.");
ABSL_FLAG(int64_t, saved_tokens, 2048,
          "With --parallel: n, tokens whose activations are saved under FSDP, "
          "half of them sharded.");
ABSL_FLAG(int64_t, ranks, 4, "With --parallel: N, of a data-parallel job.");
ABSL_FLAG(double, gradient_gb, 8,
          "With --parallel: S, all gradients, in 10^9 bytes.");
ABSL_FLAG(std::string, links, "h100_nvlink:318:30,a100_pcie:20:50",
          "With --parallel: comma-separated NAME:GB_PER_S:US, links for which "
          "to print the best bucket, each with its bandwidth in 10^9 bytes/s "
          "and the cost of one call.");

namespace trainbench {
namespace {

constexpr double kMaxMemoryGib = 1 << 20;
constexpr double kBytesPerGib = 1 << 30;
constexpr double kGiga = 1e9;
constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxTokens = int64_t{1} << 40;

absl::Status GivenTwice(absl::string_view what, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", value, "' is given twice; allowed: once"));
}

// Each item of `text`, parsed; InvalidArgument if an item occurs twice.
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
    const std::vector<ModelConfig>& custom) {
  absl::StatusOr<std::vector<ModelConfig>> known = KnownModels(custom);
  if (!known.ok()) return known;
  const std::string selection = absl::GetFlag(FLAGS_models);
  if (selection.empty()) {
    std::vector<ModelConfig> models = StandardModels();
    models.insert(models.end(), custom.begin(), custom.end());
    return models;
  }
  return ParseList<ModelConfig>(
      "model", selection,
      [&](absl::string_view name) { return FindModelOrNearest(name, *known); });
}

absl::Status ValidateMemory(double gib) {
  if (gib > 0 && gib <= kMaxMemoryGib) return absl::OkStatus();  // false if NaN
  return NotAllowed(
      "device_memory_gib", gib,
      absl::StrCat("above 0, up to ", static_cast<int64_t>(kMaxMemoryGib)));
}

// For whole numbers and others; an error for NaN too.
template <typename T>
absl::Status CheckRange(absl::string_view name, T value, T min, T max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return NotAllowed(name, value, absl::StrCat(min, " to ", max));
}

// Reads flags that hold a number, and keeps the first error.
class NumberReader {
 public:
  template <typename T>
  double operator()(const absl::Flag<T>& flag, std::type_identity_t<T> min,
                    std::type_identity_t<T> max) {
    const T value = absl::GetFlag(flag);
    const absl::string_view name = absl::GetFlagReflectionHandle(flag).Name();
    if (status_.ok()) status_ = CheckRange(name, value, min, max);
    numbers_.emplace_back(name, static_cast<double>(value));
    return numbers_.back().second;
  }

  const absl::Status& status() const { return status_; }
  // By the flag's name, in the order of the calls.
  const std::vector<std::pair<std::string, double>>& numbers() const {
    return numbers_;
  }

 private:
  absl::Status status_;
  std::vector<std::pair<std::string, double>> numbers_;
};

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double gb_per_s = 0, us = 0;
  if (parts.size() != 3 || !IsName(parts[0]) ||
      !absl::SimpleAtod(parts[1], &gb_per_s) ||
      !absl::SimpleAtod(parts[2], &us)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "links has '", text, "'; allowed: NAME:GB_PER_S:US, by comma"));
  }
  const std::string link = absl::StrCat("links has '", text, "', whose ");
  absl::Status status = CheckRange(link + "GB_PER_S", gb_per_s, kMin, kMax);
  if (status.ok()) status = CheckRange(link + "US", us, kMin, kMax);
  if (!status.ok()) return status;
  return Link{parts[0], {us, 1e6 / (gb_per_s * kGiga)}};
}

absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text) {
  std::vector<Link> links;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    absl::StatusOr<Link> link = ParseLink(item);
    if (!link.ok()) return link.status();
    for (const Link& other : links) {
      if (other.name == link->name) {
        return absl::InvalidArgumentError(
            absl::StrCat("links has '", link->name, "' twice; allowed: once"));
      }
    }
    links.push_back(*std::move(link));
  }
  return links;
}

}  // namespace

void AddPlannerFlags(std::vector<ModelConfig>& models, FlagParser& flags) {
  flags.AddAbseilFlags();
  flags.AddRepeated(
      "model", FlagParser::Setter([&models](const std::string& text) {
        const absl::StatusOr<ModelConfig> model = ParseModel(text);
        if (!model.ok()) return std::string(model.status().message());
        models.push_back(*model);
        return std::string();
      }),
      "Defines one more model; repeatable:\n"
      "name=mine,d_model=512,d_ff=2048,layers=6,heads=8\n"
      "and, if wanted, vocab=32000 (default 10000) and attention=sdpa "
      "(default naive).");
}

absl::Status CheckFlagsOfMode(const FlagParser& flags) {
  const bool parallel = absl::GetFlag(FLAGS_parallel);
  for (const auto& [name, values] : flags.given()) {
    if (name == "parallel" || name == "json" || name == "help" ||
        name == "tokens") {
      continue;
    }
    const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
    const bool of_parallel =
        flag != nullptr && absl::StartsWith(flag->Help(), "With --parallel:");
    const bool is_default =
        flag != nullptr && flag->CurrentValue() == flag->DefaultValue();
    if (of_parallel == parallel || is_default) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "flag '--", name, "' is '", values.front(), "'; allowed: only ",
        parallel ? "without" : "with", " --parallel"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelQuery> ReadModelQuery(
    const std::vector<ModelConfig>& custom) {
  ModelQuery query;
  query.batch = absl::GetFlag(FLAGS_batch);
  query.seq = absl::GetFlag(FLAGS_seq);
  const double memory_gib = absl::GetFlag(FLAGS_device_memory_gib);
  absl::Status status = ValidateShape(query.batch, query.seq);
  if (status.ok()) status = ValidateMemory(memory_gib);
  if (!status.ok()) return status;
  query.device_memory_bytes = static_cast<int64_t>(memory_gib * kBytesPerGib);

  absl::StatusOr<std::vector<ModelConfig>> models = SelectModels(custom);
  if (!models.ok()) return models.status();
  query.models = *std::move(models);
  absl::StatusOr<std::vector<Precision>> precisions = ParseList<Precision>(
      "precision", absl::GetFlag(FLAGS_precision), ParsePrecision);
  if (!precisions.ok()) return precisions.status();
  query.precisions = *std::move(precisions);
  absl::StatusOr<std::vector<StepMode>> modes =
      ParseList<StepMode>("mode", absl::GetFlag(FLAGS_mode), ParseStepMode);
  if (!modes.ok()) return modes.status();
  query.modes = *std::move(modes);
  absl::StatusOr<std::optional<TrainingQuery>> training = ReadTrainingQuery();
  if (!training.ok()) return training.status();
  query.training = *std::move(training);
  return query;
}

absl::StatusOr<ParallelQuery> ReadParallelQuery() {
  ParallelQuery query;
  LayerJob& layer = query.layer;
  ShardedJob& job = query.job;
  NumberReader read;
  layer.tokens = read(FLAGS_tokens, 1, kMaxTokens);
  layer.d_model = job.d_model = read(FLAGS_d_model, 1, kMaxSize);
  layer.d_ff = job.d_ff = read(FLAGS_d_ff, 1, kMaxSize);
  layer.matrices = read(FLAGS_ffn_matrices, 1, 16);
  job.blocks = read(FLAGS_blocks, 1, kMaxSize);
  job.state_bytes_per_param = read(FLAGS_state_bytes_per_param, 0.125, 1024);
  layer.value_bytes = job.value_bytes = read(FLAGS_value_bytes, 0.125, 16);
  layer.flops_per_second = job.flops_per_second =
      read(FLAGS_device_tflops, kMin, kMax) * 1e12;
  layer.link_bytes_per_second = job.link_bytes_per_second =
      read(FLAGS_link_gb_per_s, kMin, kMax) * kGiga;
  job.fsdp = read(FLAGS_fsdp_ranks, 1, kMaxSize);
  job.tensor = read(FLAGS_tensor_ranks, 1, kMaxSize);
  job.fsdp_axes = read(FLAGS_fsdp_axes, 1, 16);
  job.tensor_axes = read(FLAGS_tensor_axes, 1, 16);
  query.gpu_gb = read(FLAGS_gpu_gb, kMin, kMax);
  query.fsdp_device_bytes = read(FLAGS_fsdp_device_gb, kMin, kMax) * kGiga;
  query.saved_tokens = read(FLAGS_saved_tokens, 0, kMaxTokens);
  read(FLAGS_ranks, 1, kMaxSize);
  query.ranks = absl::GetFlag(FLAGS_ranks);
  query.gradient_bytes = read(FLAGS_gradient_gb, kMin, kMax) * kGiga;
  if (!read.status().ok()) return read.status();
  query.numbers = read.numbers();

  query.links_flag = absl::GetFlag(FLAGS_links);
  absl::StatusOr<std::vector<Link>> links = ParseLinks(query.links_flag);
  if (!links.ok()) return links.status();
  query.links = *std::move(links);
  return query;
}

}  // namespace trainbench
