// SPDX-License-Identifier: MIT

#include "model/spec/config.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/spec/not_allowed.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxVocab = int64_t{1} << 24;

absl::Status CheckRange(absl::string_view field, int64_t value, int64_t max,
                        int64_t min = 1) {
  if (value >= min && value <= max) return absl::OkStatus();
  return NotAllowed(field, value, absl::StrCat(min, " to ", max));
}

std::string Names(const std::vector<ModelConfig>& models) {
  return absl::StrJoin(models, ", ", [](std::string* out, const auto& model) {
    absl::StrAppend(out, model.name);
  });
}

absl::Status SetName(absl::string_view value, ModelConfig& config) {
  if (!IsName(value)) {
    return TextNotAllowed("name", value,
                          "1 to 64 letters, digits, '.', '_' or '-'");
  }
  if (FindModel(value, NamedModels()).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "name '", value, "' is a standard model; choose another name than ",
        Names(NamedModels())));
  }
  config.name = std::string(value);
  return absl::OkStatus();
}

absl::Status SetAttention(absl::string_view value, ModelConfig& config) {
  const auto kind =
      ParseName("attention", value, AttentionKinds(), AttentionName);
  if (kind.ok()) config.attention = *kind;
  return kind.status();
}

absl::Status SetImplementation(absl::string_view value, ModelConfig& config) {
  const auto implementation = ParseImplementation(value);
  if (implementation.ok()) config.implementation = *implementation;
  return implementation.status();
}

absl::Status SetCheckpointing(absl::string_view value, ModelConfig& config) {
  const auto checkpointing = ParseCheckpointing(value);
  if (checkpointing.ok()) config.checkpointing = *checkpointing;
  return checkpointing.status();
}

absl::Status SetTied(absl::string_view value, ModelConfig& config) {
  if (absl::SimpleAtob(value, &config.tied_embeddings)) {
    return absl::OkStatus();
  }
  return TextNotAllowed("tied_embeddings", value, "true or false");
}

absl::Status SetSize(absl::string_view key, absl::string_view value,
                     ModelConfig& config) {
  int64_t* field = key == "d_model"    ? &config.d_model
                   : key == "d_ff"     ? &config.d_ff
                   : key == "layers"   ? &config.layers
                   : key == "heads"    ? &config.heads
                   : key == "kv_heads" ? &config.kv_heads
                   : key == "vocab"    ? &config.vocab
                                       : nullptr;
  if (field == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown key '", key,
                     "'; allowed: name, d_model, d_ff, layers, heads, "
                     "kv_heads, vocab, tied_embeddings, attention, "
                     "implementation, checkpoint"));
  }
  if (!absl::SimpleAtoi(value, field)) {
    return TextNotAllowed(key, value, "a whole number");
  }
  return absl::OkStatus();
}

absl::Status SetField(absl::string_view key, absl::string_view value,
                      ModelConfig& config) {
  if (key == "name") return SetName(value, config);
  if (key == "tied_embeddings") return SetTied(value, config);
  if (key == "attention") return SetAttention(value, config);
  if (key == "implementation") return SetImplementation(value, config);
  if (key == "checkpoint") return SetCheckpointing(value, config);
  return SetSize(key, value, config);
}

absl::Status ParseFields(absl::string_view text, ModelConfig& config) {
  std::set<absl::string_view> seen;
  for (absl::string_view field : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    if (!seen.insert(pair.first).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("key '", pair.first, "' is given twice"));
    }
    absl::Status status = SetField(pair.first, pair.second, config);
    if (!status.ok()) return status;
  }
  for (const char* key : {"name", "d_model", "d_ff", "layers", "heads"}) {
    if (!seen.contains(key)) {
      return absl::InvalidArgumentError(
          absl::StrCat("key '", key, "' is missing"));
    }
  }
  if (!seen.contains("attention")) {
    config.attention = AttentionOf(config.implementation);
  }
  // So that one model has one spelling.
  if (config.kv_heads == config.heads) config.kv_heads = 0;
  return absl::OkStatus();
}

}  // namespace

AttentionKind AttentionOf(Implementation implementation) {
  switch (implementation) {
    case Implementation::kTextbook:
      return AttentionKind::kNaive;
    case Implementation::kLibrary:
      return AttentionKind::kSdpa;
    case Implementation::kFused:
      return AttentionKind::kOwn;
  }
  return AttentionKind::kNaive;
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::Status Validate(const ModelConfig& config) {
  for (const absl::Status& status :
       {CheckRange("d_model", config.d_model, kMaxSize),
        CheckRange("d_ff", config.d_ff, kMaxSize),
        CheckRange("layers", config.layers, kMaxSize),
        CheckRange("heads", config.heads, kMaxSize),
        CheckRange("kv_heads", config.kv_heads, kMaxSize, 0),
        // The loss of a single token is always 0.
        CheckRange("vocab", config.vocab, kMaxVocab, 2)}) {
    if (!status.ok()) return status;
  }
  if (config.head_width == 0 && config.d_model % config.heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("d_model is ", config.d_model, " and heads is ",
                     config.heads, "; allowed: heads that divide d_model"));
  }
  if (config.heads % config.key_value_heads() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("heads is ", config.heads, " and kv_heads is ",
                     config.kv_heads, "; allowed: kv_heads that divide heads"));
  }
  if (config.d_head() % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "d_model / heads is ", config.d_head(),
        "; allowed: an even head dimension (rotary embeddings turn pairs)"));
  }
  return absl::OkStatus();
}

absl::Status ValidateShape(int64_t batch, int64_t seq) {
  absl::Status status = CheckRange("batch", batch, kMaxSize);
  return status.ok() ? CheckRange("seq", seq, kMaxSize) : status;
}

const std::vector<ModelConfig>& StandardModels() {
  static const auto* const kModels = new std::vector<ModelConfig>{
      {"tiny", 128, 512, 4, 4},       {"small", 768, 3072, 12, 12},
      {"medium", 1024, 4096, 24, 16}, {"large", 1280, 5120, 36, 20},
      {"xl", 1600, 6400, 48, 25},     {"2.7B", 2560, 10240, 32, 32},
  };
  return *kModels;
}

const std::vector<ModelConfig>& NamedModels() {
  static const auto* const kModels = [] {
    constexpr int64_t kGpt2Vocab = 50257;
    auto* const models = new std::vector<ModelConfig>(StandardModels());
    models->insert(models->end(),
                   {{"gpt2", 768, 3072, 12, 12, kGpt2Vocab},
                    {"gpt2-medium", 1024, 4096, 24, 16, kGpt2Vocab},
                    {"gpt2-large", 1280, 5120, 36, 20, kGpt2Vocab},
                    {"gpt2-xl", 1600, 6400, 48, 25, kGpt2Vocab},
                    {"8B", 4096, 11008, 34, 32, 151936}});
    return models;
  }();
  return *kModels;
}

absl::StatusOr<ModelConfig> FindModel(absl::string_view name,
                                      const std::vector<ModelConfig>& models) {
  const auto it = std::find_if(
      models.begin(), models.end(),
      [&](const ModelConfig& model) { return model.name == name; });
  if (it != models.end()) return *it;
  return absl::NotFoundError(
      absl::StrCat("unknown model '", name, "'; allowed: ", Names(models)));
}

absl::StatusOr<ModelConfig> ParseModel(absl::string_view text) {
  ModelConfig config;
  absl::Status status = ParseFields(text, config);
  if (status.ok()) status = Validate(config);
  if (!status.ok()) return status;
  return config;
}

std::string FormatModel(const ModelConfig& config) {
  std::string text = absl::StrCat(
      "name=", config.name, ",d_model=", config.d_model, ",d_ff=", config.d_ff,
      ",layers=", config.layers, ",heads=", config.heads);
  if (config.key_value_heads() != config.heads) {
    absl::StrAppend(&text, ",kv_heads=", config.kv_heads);
  }
  absl::StrAppend(&text, ",vocab=", config.vocab);
  if (config.tied_embeddings) absl::StrAppend(&text, ",tied_embeddings=true");
  absl::StrAppend(&text, ",attention=", AttentionName(config.attention));
  if (config.implementation != Implementation::kTextbook) {
    absl::StrAppend(
        &text, ",implementation=", ImplementationName(config.implementation));
  }
  if (config.checkpointing != Checkpointing()) {
    absl::StrAppend(&text,
                    ",checkpoint=", CheckpointingName(config.checkpointing));
  }
  return text;
}

}  // namespace trainbench
