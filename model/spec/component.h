// SPDX-License-Identifier: MIT
// The components of a step, by name.

#ifndef TRAINBENCH_MODEL_SPEC_COMPONENT_H_
#define TRAINBENCH_MODEL_SPEC_COMPONENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "model/spec/enum_names.h"

namespace trainbench {

// In the order of a step. kScores is Q K^T with its scale and mask; kSoftmax
// includes the cast of the weights; kValue is the product with V. Every
// attention but naive has kFusedAttention in place of these three.
enum class Component {
  kEmbedding,
  kProjections,  // q, k and v; includes splitting and repeating heads
  kRope,
  kScores,
  kSoftmax,
  kValue,
  kFusedAttention,
  kOutputProjection,  // includes merging the heads
  kFfn,
  kNorm,
  kResidual,  // the two additions of a block
  kLmHead,
  kCrossEntropy,
  kOptimizer,
};

inline constexpr std::size_t kComponentCount = 14;
inline constexpr EnumNames<Component, kComponentCount> ComponentName{
    "embedding",
    "projections",
    "rope",
    "scores",
    "softmax",
    "value",
    "fused_attention",
    "output_projection",
    "ffn",
    "norm",
    "residual",
    "lm_head",
    "cross_entropy",
    "optimizer"};
inline constexpr auto kComponents = ComponentName.values();

// Spans that are not components: the attention sublayer of a block, which
// contains components; the construction of the causal mask, a part of kScores;
// and the last norm before the head, a part of kNorm.
inline constexpr char kAttentionSpan[] = "attention";
inline constexpr char kMaskSpan[] = "causal_mask";
inline constexpr char kFinalNormSpan[] = "final_norm";
// In the backward pass: forward work that is recomputed because its results
// were not kept (model/nn/checkpoint.h).
inline constexpr char kRecomputeSpan[] = "recompute";

// Autograd's prefix of the name of a backward node, which includes the engine's
// work on its result: sums over broadcast dimensions, adds to other gradients.
inline constexpr absl::string_view kNodePrefix =
    "autograd::engine::evaluate_function: ";

// "layer_3" for 3, and its inverse: std::nullopt if `scope` is not the name of
// a layer.
std::string LayerScopeName(std::size_t layer);
std::optional<int64_t> ParseLayerScope(absl::string_view scope);

// Whether the operator multiplies matrices: aten::mm, addmm, bmm or baddbmm.
// All other products call one of these, except fused attention.
bool IsMatrixProduct(absl::string_view op);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_COMPONENT_H_
