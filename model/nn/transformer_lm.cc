// SPDX-License-Identifier: MIT

#include "model/nn/transformer_lm.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include "model/nn/component.h"
#include "model/nn/cross_entropy.h"

namespace trainbench {
namespace {

const ModelConfig& Checked(const ModelConfig& config) {
  const absl::Status status = Validate(config);
  TORCH_CHECK(status.ok(), std::string(status.message()));
  return config;
}

std::vector<Block> MakeLayers(const ModelConfig& config,
                              const at::TensorOptions& options,
                              LayerRanks* ranks) {
  std::vector<Block> layers;
  for (int64_t i = 0; i < config.layers; ++i) {
    layers.emplace_back(config, options, ranks);
  }
  return layers;
}

}  // namespace

TransformerLmImpl::TransformerLmImpl(const ModelConfig& config,
                                     const at::TensorOptions& options,
                                     LayerRanks* ranks)
    : token_embeddings(register_module(
          "token_embeddings",
          Embedding(Checked(config).vocab, config.d_model, options))),
      layers(MakeLayers(config, options, ranks)),
      ln_final(nullptr),
      lm_head(nullptr),
      config_(config),
      ranks_(ranks) {
  torch::nn::ModuleList list;
  for (const Block& layer : layers) list->push_back(layer);
  register_module("layers", list);
  // Made after the layers, so that parameters are listed in data-flow order.
  ln_final = register_module(
      "ln_final", RmsNorm(config.d_model, options, config.implementation));
  lm_head =
      register_module("lm_head", Linear(config.d_model, config.vocab, options));
}

at::Tensor TransformerLmImpl::forward(const at::Tensor& tokens) {
  ResidualStream stream;
  {
    const ComponentScope scope(Component::kEmbedding);
    stream.x = ranks_ == nullptr
                   ? token_embeddings(tokens)
                   : ranks_->Embed(token_embeddings->weight, tokens);
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerScope scope(i);
    layers[i](stream);
  }
  at::Tensor normed = ln_final->AddAndNorm(stream);
  if (ranks_ != nullptr) normed = ranks_->Enter(normed);
  const ComponentScope scope(Component::kLmHead);
  return lm_head(normed);
}

at::Tensor TransformerLmImpl::Loss(at::Tensor logits,
                                   const at::Tensor& targets) const {
  if (ranks_ == nullptr) {
    return CrossEntropy(std::move(logits), targets, config_.implementation);
  }
  const ComponentScope scope(Component::kCrossEntropy);
  return ranks_->CrossEntropy(std::move(logits), targets);
}

}  // namespace trainbench
