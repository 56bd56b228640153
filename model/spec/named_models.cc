// SPDX-License-Identifier: MIT

#include "model/spec/named_models.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainbench {
namespace {

constexpr int64_t kGpt2Vocab = 50257, kMptVocab = 50368, kLlama2Vocab = 32000,
                  kLlama3Vocab = 128256;

// Radford et al. 2019; llm-foundry's MPT models differ only in the vocabulary.
ModelConfig Gpt(std::string name, int64_t d_model, int64_t layers,
                int64_t heads, int64_t context, int64_t vocab = kGpt2Vocab) {
  return {.name = std::move(name),
          .d_model = d_model,
          .d_ff = 4 * d_model,
          .layers = layers,
          .heads = heads,
          .vocab = vocab,
          .tied_embeddings = true,
          .mlp = Mlp::kGelu,
          .norm = Normalization::kLayer,
          .biases = Biases::kAll,
          .positions = Positions::kLearned,
          .context = context};
}

ModelConfig Mpt(std::string name, int64_t d_model, int64_t layers,
                int64_t heads) {
  return Gpt(std::move(name), d_model, layers, heads, 2048, kMptVocab);
}

// Touvron et al. 2023. The standard models have this architecture as well.
ModelConfig Llama(std::string name, int64_t d_model, int64_t d_ff,
                  int64_t layers, int64_t heads, int64_t kv_heads,
                  int64_t vocab) {
  return {.name = std::move(name),
          .d_model = d_model,
          .d_ff = d_ff,
          .layers = layers,
          .heads = heads,
          .vocab = vocab,
          .kv_heads = kv_heads == heads ? 0 : kv_heads};
}

ModelConfig Llama32() {
  ModelConfig model =
      Llama("Llama-3.2-3B", 3072, 8192, 28, 24, 8, kLlama3Vocab);
  model.tied_embeddings = true;
  return model;
}

// Parmar et al. 2024.
ModelConfig Nemotron() {
  ModelConfig model = Llama("Nemotron-4-15B", 6144, 24576, 32, 48, 8, 256000);
  model.mlp = Mlp::kRelu2;
  model.norm = Normalization::kLayer;
  model.biases = Biases::kNorms;
  return model;
}

std::vector<ModelConfig> Published() {
  return {Gpt("GPT-2-124M", 768, 12, 12, 1024),
          Gpt("GPT-2-355M", 1024, 24, 16, 1024),
          Gpt("GPT-2-774M", 1280, 36, 20, 1024),
          Gpt("GPT-2-1.5B", 1600, 48, 25, 1024),
          Gpt("GPT-3-1.3B", 2048, 24, 16, 2048),
          Gpt("GPT-3-2.7B", 2560, 32, 32, 2048),
          Gpt("GPT-3-175B", 12288, 96, 96, 2048),
          Mpt("MPT-125M", 768, 12, 12),
          Mpt("MPT-350M", 1024, 24, 16),
          Mpt("MPT-760M", 1536, 24, 12),
          Mpt("MPT-1B", 2048, 24, 16),
          Mpt("MPT-3B", 2560, 32, 20),
          Mpt("MPT-7B", 4096, 32, 32),
          Mpt("MPT-13B", 5120, 40, 40),
          Mpt("MPT-30B", 7168, 48, 56),
          Mpt("MPT-70B", 8192, 80, 64),
          Llama("TinyLlama-1.1B", 2048, 5632, 22, 32, 4, kLlama2Vocab),
          Llama("Llama-2-7B", 4096, 11008, 32, 32, 32, kLlama2Vocab),
          Llama("Llama-2-13B", 5120, 13824, 40, 40, 40, kLlama2Vocab),
          Llama("Llama-2-70B", 8192, 28672, 80, 64, 8, kLlama2Vocab),
          Llama("Llama-3-8B", 4096, 14336, 32, 32, 8, kLlama3Vocab),
          Llama("Llama-3-70B", 8192, 28672, 80, 64, 8, kLlama3Vocab),
          Llama("Llama-3-405B", 16384, 53248, 126, 128, 8, kLlama3Vocab),
          Llama32(),
          Nemotron()};
}

}  // namespace

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
    auto* const models = new std::vector<ModelConfig>(StandardModels());
    models->insert(models->end(),
                   {{"gpt2", 768, 3072, 12, 12, kGpt2Vocab},
                    {"gpt2-medium", 1024, 4096, 24, 16, kGpt2Vocab},
                    {"gpt2-large", 1280, 5120, 36, 20, kGpt2Vocab},
                    {"gpt2-xl", 1600, 6400, 48, 25, kGpt2Vocab},
                    {"8B", 4096, 11008, 34, 32, 151936}});
    for (ModelConfig& model : Published()) models->push_back(std::move(model));
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
  return absl::NotFoundError(absl::StrCat("unknown model '", name,
                                          "'; allowed: ", ModelNames(models)));
}

std::string ModelNames(const std::vector<ModelConfig>& models) {
  return absl::StrJoin(models, ", ", [](std::string* out, const auto& model) {
    absl::StrAppend(out, model.name);
  });
}

}  // namespace trainbench
