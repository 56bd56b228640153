// SPDX-License-Identifier: MIT

#include "model/spec/config.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxVocab = int64_t{1} << 24;

absl::Status CheckRange(absl::string_view field, int64_t value, int64_t max,
                        int64_t min = 1) {
  if (value >= min && value <= max) return absl::OkStatus();
  return NotAllowed(field, value, absl::StrCat(min, " to ", max));
}

// The contents of a model description, as read.
struct ModelText {
  ModelConfig config;
  int64_t pad_vocab = 1;
  std::set<absl::string_view> seen;  // keys that were read
};

// Reads the value of a key.
using Setter = absl::Status (*)(absl::string_view key, absl::string_view value,
                                ModelText& text);

// As a benchmark name needs.
bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::Status SetName(absl::string_view key, absl::string_view value,
                     ModelText& text) {
  if (!IsName(value)) {
    return TextNotAllowed(key, value,
                          "1 to 64 letters, digits, '.', '_' or '-'");
  }
  if (FindModel(value, NamedModels()).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "name '", value, "' is a standard model; allowed: names other than ",
        ModelNames(NamedModels())));
  }
  text.config.name = std::string(value);
  return absl::OkStatus();
}

absl::Status ReadSize(absl::string_view key, absl::string_view value,
                      int64_t& size) {
  if (absl::SimpleAtoi(value, &size)) return absl::OkStatus();
  return TextNotAllowed(key, value, "a whole number");
}

template <int64_t ModelConfig::*kSize>
absl::Status SetSize(absl::string_view key, absl::string_view value,
                     ModelText& text) {
  return ReadSize(key, value, text.config.*kSize);
}

absl::Status SetPadding(absl::string_view key, absl::string_view value,
                        ModelText& text) {
  RETURN_IF_ERROR(ReadSize(key, value, text.pad_vocab));
  return CheckRange(key, text.pad_vocab, kMaxSize);
}

absl::Status SetTied(absl::string_view key, absl::string_view value,
                     ModelText& text) {
  if (absl::SimpleAtob(value, &text.config.tied_embeddings)) {
    return absl::OkStatus();
  }
  return TextNotAllowed(key, value, "true or false");
}

template <auto kField, const auto& kNames>
absl::Status SetChoice(absl::string_view key, absl::string_view value,
                       ModelText& text) {
  ASSIGN_OR_RETURN(text.config.*kField, kNames.Parse(key, value));
  return absl::OkStatus();
}

absl::Status SetCheckpointing(absl::string_view, absl::string_view value,
                              ModelText& text) {
  ASSIGN_OR_RETURN(text.config.checkpointing, ParseCheckpointing(value));
  return absl::OkStatus();
}

struct Key {
  absl::string_view name;
  Setter set;
  bool is_required = false;
};

constexpr Key kKeys[] = {
    {"name", SetName, true},
    {"d_model", SetSize<&ModelConfig::d_model>, true},
    {"d_ff", SetSize<&ModelConfig::d_ff>, true},
    {"layers", SetSize<&ModelConfig::layers>, true},
    {"heads", SetSize<&ModelConfig::heads>, true},
    {"kv_heads", SetSize<&ModelConfig::kv_heads>},
    {"vocab", SetSize<&ModelConfig::vocab>},
    {"pad_vocab", SetPadding},
    {"tied_embeddings", SetTied},
    {"mlp", SetChoice<&ModelConfig::mlp, MlpName>},
    {"norm", SetChoice<&ModelConfig::norm, NormalizationName>},
    {"biases", SetChoice<&ModelConfig::biases, BiasesName>},
    {"positions", SetChoice<&ModelConfig::positions, PositionsName>},
    {"context", SetSize<&ModelConfig::context>},
    {"attention", SetChoice<&ModelConfig::attention, AttentionName>},
    {"implementation",
     SetChoice<&ModelConfig::implementation, ImplementationName>},
    {"checkpoint", SetCheckpointing}};

absl::Status SetField(absl::string_view key, absl::string_view value,
                      ModelText& text) {
  std::vector<absl::string_view> names;
  for (const Key& known : kKeys) {
    if (known.name == key) return known.set(key, value, text);
    names.push_back(known.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown key '", key, "'; allowed: ", absl::StrJoin(names, ", ")));
}

absl::Status ReadFields(absl::string_view fields, ModelText& text) {
  for (absl::string_view field : absl::StrSplit(fields, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    if (!text.seen.insert(pair.first).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("key '", pair.first, "' is given twice"));
    }
    RETURN_IF_ERROR(SetField(pair.first, pair.second, text));
  }
  for (const Key& key : kKeys) {
    if (key.is_required && !text.seen.contains(key.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("key '", key.name, "' is missing"));
    }
  }
  return absl::OkStatus();
}

// Fills in the fields that follow from others.
ModelConfig Complete(const ModelText& text) {
  ModelConfig config = text.config;
  if (!text.seen.contains("attention")) {
    config.attention = AttentionOf(config.implementation);
  }
  // So that each model has one spelling.
  if (config.kv_heads == config.heads) config.kv_heads = 0;
  const int64_t rest = config.vocab % text.pad_vocab;
  // Validate() rejects a larger one, which might overflow.
  if (rest > 0 && config.vocab <= kMaxVocab) {
    config.vocab += text.pad_vocab - rest;
  }
  return config;
}

absl::Status ValidatePositions(const ModelConfig& config) {
  if (config.positions == Positions::kRope) {
    if (config.context != 0) {
      return NotAllowed("context", config.context,
                        "0, or any context with positions=learned");
    }
    if (config.d_head() % 2 == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "d_model / heads is ", config.d_head(),
        "; allowed: an even head dimension (rotary embeddings rotate pairs)"));
  }
  if (config.context == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "positions=learned needs context; allowed: 1 to ", kMaxSize));
  }
  return CheckRange("context", config.context, kMaxSize);
}

absl::Status ValidateBiases(const ModelConfig& config) {
  if (config.biases != Biases::kNorms || config.norm == Normalization::kLayer) {
    return absl::OkStatus();
  }
  return TextNotAllowed("biases", BiasesName(config.biases),
                        "none or all; with norm=layer also norms");
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

absl::Status Validate(const ModelConfig& config) {
  for (const absl::Status& status :
       {CheckRange("d_model", config.d_model, kMaxSize),
        CheckRange("d_ff", config.d_ff, kMaxSize),
        CheckRange("layers", config.layers, kMaxSize),
        CheckRange("heads", config.heads, kMaxSize),
        CheckRange("kv_heads", config.kv_heads, kMaxSize, 0),
        // With a vocabulary of one token, the loss is always 0.
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
  RETURN_IF_ERROR(ValidatePositions(config));
  return ValidateBiases(config);
}

std::string SeqUnavailable(const ModelConfig& config, int64_t seq) {
  if (config.positions == Positions::kRope || seq <= config.context) return "";
  return absl::StrCat("seq is ", seq, "; allowed: at most ", config.context,
                      ", the number of learned positions of ", config.name);
}

std::string ImplementationUnavailable(const ModelConfig& config,
                                      DeviceKind device) {
  // For LayerNorm, the fused implementation calls LibTorch.
  if (config.implementation != Implementation::kFused ||
      device == DeviceKind::kCpu || config.norm != Normalization::kRms ||
      config.d_model <= kMostFusedGpuWidth) {
    return "";
  }
  return absl::StrCat(
      "on a GPU the fused implementation supports norms of at most ",
      kMostFusedGpuWidth, " columns; d_model is ", config.d_model,
      "; use textbook or library");
}

absl::StatusOr<ModelConfig> ParseModel(absl::string_view text) {
  ModelText read;
  RETURN_IF_ERROR(ReadFields(text, read));
  ModelConfig config = Complete(read);
  RETURN_IF_ERROR(Validate(config));
  return config;
}

std::string FormatArchitecture(const ModelConfig& config) {
  const ModelConfig usual;
  std::string text;
  const auto add = [&](absl::string_view key, auto field, const auto& names) {
    if (config.*field == usual.*field) return;
    absl::StrAppend(&text, ",", key, "=", names(config.*field));
  };
  add("mlp", &ModelConfig::mlp, MlpName);
  add("norm", &ModelConfig::norm, NormalizationName);
  add("biases", &ModelConfig::biases, BiasesName);
  add("positions", &ModelConfig::positions, PositionsName);
  if (config.positions == Positions::kLearned) {
    absl::StrAppend(&text, ",context=", config.context);
  }
  return text;
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
  absl::StrAppend(&text, FormatArchitecture(config),
                  ",attention=", AttentionName(config.attention));
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
