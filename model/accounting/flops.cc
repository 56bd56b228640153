// SPDX-License-Identifier: MIT

#include "model/accounting/flops.h"

#include "model/accounting/number.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

// Forward FLOPs of all blocks.
double BlocksFlops(const ModelConfig& config, int64_t batch, int64_t seq) {
  // In double: exact up to 2^53, and a large sweep exceeds int64.
  const double layer =
      2 * Number(batch * seq) * Number(BlockMatrixParameters(config)) +
      LayerAttentionFlops(config, batch, seq);
  return Number(config.layers) * layer;
}

}  // namespace

double AttentionFlops(int64_t batch, int64_t seq, int64_t width) {
  return 4 * Number(batch * seq) * Number(seq) * Number(width);
}

double LayerAttentionFlops(const ModelConfig& config, int64_t batch,
                           int64_t seq) {
  return AttentionFlops(batch, seq, config.d_attention());
}

double SkippedFlops(const ModelConfig& config, int64_t batch, int64_t seq) {
  if (!VariantOf(config.attention).skips_masked) return 0;
  return Number(config.layers) * LayerAttentionFlops(config, batch, seq) / 2;
}

double ForwardFlops(const ModelConfig& config, int64_t batch, int64_t seq) {
  const double head =
      2 * Number(batch * seq) * Number(config.vocab) * Number(config.d_model);
  return BlocksFlops(config, batch, seq) + head;
}

double StepFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                 StepMode mode) {
  return (HasBackward(mode) ? 3 : 1) * ForwardFlops(config, batch, seq);
}

double RecomputedFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                       StepMode mode) {
  if (!HasBackward(mode)) return 0;
  switch (config.checkpointing.kind) {
    case Checkpointing::Kind::kNone:
      return 0;
    case Checkpointing::Kind::kAttention:
      return Number(config.layers) * LayerAttentionFlops(config, batch, seq);
    case Checkpointing::Kind::kBlocks:
      return BlocksFlops(config, batch, seq);
  }
  return 0;
}

std::vector<ComponentFlops> FlopsByComponent(const ModelConfig& config,
                                             int64_t batch, int64_t seq,
                                             StepMode mode) {
  // Factor for each product: one forward, two backward.
  const double passes =
      StepFlops(config, batch, seq, mode) / ForwardFlops(config, batch, seq);
  const double attention =
      passes * Number(config.layers) * LayerAttentionFlops(config, batch, seq);
  std::vector<ComponentFlops> work;
  const auto multiply = [&](Component component, int64_t elements) {
    work.push_back(
        {component, passes * 2 * Number(batch * seq) * Number(elements)});
  };
  for (const ComponentParameters& part : ParametersByComponent(config)) {
    if (part.component == Component::kOutputProjection) {
      if (VariantOf(config.attention).parts) {
        work.push_back({Component::kScores, attention / 2});
        work.push_back({Component::kValue, attention / 2});
      } else {
        work.push_back({Component::kFusedAttention, attention});
      }
    }
    if (part.multiplied > 0) multiply(part.component, part.multiplied);
  }
  // A tied head multiplies by the embedding's parameters.
  if (config.tied_embeddings) {
    multiply(Component::kLmHead, config.vocab * config.d_model);
  }
  return work;
}

double AdamWFlops(const ModelConfig& config) {
  return 14 * Number(ParameterCount(config));
}

}  // namespace trainbench
