// SPDX-License-Identifier: MIT

#include "model/nn/transformer_lm.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "model/nn/checkpoint.h"
#include "model/nn/component.h"
#include "model/nn/cross_entropy.h"
#include "model/nn/initialization.h"

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

std::vector<at::Tensor> TensorsOf(const ResidualStream& stream) {
  if (!stream.update.defined()) return {stream.x};
  return {stream.x, stream.update};
}

ResidualStream StreamOf(const std::vector<at::Tensor>& tensors) {
  return {tensors[0], tensors.size() > 1 ? tensors[1] : at::Tensor()};
}

// Runs consecutive layers; the first has number `first`.
void Run(std::span<Block> layers, std::size_t first, ResidualStream& stream) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerScope scope(first + i);
    layers[i](stream);
  }
}

}  // namespace

TransformerLmImpl::TransformerLmImpl(const ModelConfig& config,
                                     const at::TensorOptions& options,
                                     LayerRanks* ranks)
    : token_embeddings(register_module(
          "token_embeddings",
          MakeEmbedding(Checked(config).vocab, config.d_model, options))),
      position_embeddings(
          config.positions == Positions::kLearned
              ? register_module(
                    "position_embeddings",
                    MakeEmbedding(config.context, config.d_model, options))
              : torch::nn::Embedding(nullptr)),
      layers(MakeLayers(config, options, ranks)),
      ln_final(nullptr),
      lm_head(nullptr),
      config_(config),
      ranks_(ranks) {
  torch::nn::ModuleList list;
  for (const Block& layer : layers) list->push_back(layer);
  register_module("layers", list);
  // Created after the layers, so that parameters are listed in data-flow order.
  ln_final = register_module("ln_final", Norm(config, options));
  if (config.tied_embeddings) {
    // Initializes the weight as a head's. Not registered: it is listed already.
    lm_head = Linear(token_embeddings->weight, config.implementation);
  } else {
    lm_head = register_module(
        "lm_head",
        Linear(config.d_model, config.vocab, options, config.implementation));
  }
  parameter_list = parameters();
  const auto count =
      static_cast<std::size_t>(config.checkpointing.SegmentOf(config.layers));
  for (std::size_t i = 0; count > 0 && i < layers.size(); ++i) {
    if (i % count == 0) segments_.push_back({.first = i});
    Segment& last = segments_.back();
    last.layers.push_back(layers[i]);
    for (const auto& one : layers[i]->parameters()) {
      last.parameters.push_back(one);
    }
  }
}

void TransformerLmImpl::BuildRopeCache(int64_t seq) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerScope scope(i);
    layers[i]->attn->BuildRopeCache(seq);
  }
}

void TransformerLmImpl::RunLayers(ResidualStream& stream) {
  if (segments_.empty() || !at::GradMode::is_enabled()) {
    return Run(layers, 0, stream);
  }
  for (const Segment& segment : segments_) {
    const auto work = [layers = segment.layers, first = segment.first](
                          const std::vector<at::Tensor>& inputs) mutable {
      ResidualStream through = StreamOf(inputs);
      Run(layers, first, through);
      return TensorsOf(through);
    };
    stream = StreamOf(Checkpoint(work, TensorsOf(stream), segment.parameters));
  }
}

at::Tensor TransformerLmImpl::Embed(const at::Tensor& tokens) {
  const ComponentScope scope(Component::kEmbedding);
  const int64_t seq = tokens.size(-1);
  const std::string why = SeqUnavailable(config_, seq);
  TORCH_CHECK(why.empty(), why);
  at::Tensor x = ranks_ == nullptr
                     ? token_embeddings(tokens)
                     : ranks_->Embed(token_embeddings->weight, tokens);
  if (position_embeddings.is_empty()) return x;
  return x + position_embeddings->weight.narrow(0, 0, seq);
}

at::Tensor TransformerLmImpl::FinalNorm(ResidualStream& stream) {
  const SpanScope scope(kFinalNormSpan);
  return ln_final->AddAndNorm(stream);
}

at::Tensor TransformerLmImpl::forward(const at::Tensor& tokens) {
  ResidualStream stream = {Embed(tokens), {}};
  RunLayers(stream);
  at::Tensor normed = FinalNorm(stream);
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
