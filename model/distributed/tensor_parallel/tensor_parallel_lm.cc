// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"

#include <ATen/Context.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>

#include "model/nn/initialization.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {
namespace {

// Creates a part and restores the generator, because the caller draws the whole
// model's weights next.
TransformerLm WithoutDrawing(TensorRanks& ranks,
                             const at::TensorOptions& options) {
  if (options.device().is_meta()) {
    return TransformerLm(ranks.part(), options, &ranks);
  }
  at::Generator generator =
      at::globalContext().defaultGenerator(options.device());
  const at::Tensor state = generator.get_state();
  TransformerLm part(ranks.part(), options, &ranks);
  generator.set_state(state);
  return part;
}

// Copies this rank's part of each weight of the layer `whole`.
template <typename Layer>
void Fill(const Layer& part, const Layer& whole, const ProcessGroup& group) {
  const auto from = whole->named_parameters();
  for (const auto& parameter : part->named_parameters()) {
    at::Tensor weight = parameter.value();
    weight.copy_(PartOf(from[parameter.key()], weight.sizes(), group));
  }
}

}  // namespace

TransformerLm MakePart(TensorRanks& ranks, const at::TensorOptions& options) {
  if (ranks.group().size() == 1) return TransformerLm(ranks.whole(), options);
  const TransformerLm part = WithoutDrawing(ranks, options);
  const at::NoGradGuard no_grad;
  const ModelConfig& whole = ranks.whole();
  const ProcessGroup& group = ranks.group();
  // In the order in which a whole model draws them.
  Fill(part->token_embeddings,
       MakeEmbedding(whole.vocab, whole.d_model, options), group);
  if (whole.positions == Positions::kLearned) {
    Fill(part->position_embeddings,
         MakeEmbedding(whole.context, whole.d_model, options), group);
  }
  for (const Block& layer : part->layers) {
    Fill(layer, Block(whole, options), group);
  }
  Fill(part->lm_head, Linear(whole.d_model, whole.vocab, options), group);
  return part;
}

at::Tensor PartOf(const at::Tensor& whole, at::IntArrayRef sizes,
                  const ProcessGroup& group) {
  for (int64_t d = 0; d < whole.dim(); ++d) {
    if (whole.size(d) == sizes[static_cast<std::size_t>(d)]) continue;
    const IndexRange part = PartOf(whole.size(d), group.rank(), group.size());
    return whole.narrow(d, part.first, part.count);
  }
  return whole;
}

at::Tensor Assemble(const at::Tensor& part, at::IntArrayRef sizes,
                    ProcessGroup& group) {
  if (part.sizes() == sizes) return part.detach().clone();
  const at::NoGradGuard no_grad;
  at::Tensor whole = at::zeros(sizes, part.options());
  PartOf(whole, part.sizes(), group).copy_(part);
  group.AllReduce(whole);
  return whole;
}

}  // namespace trainbench
