// SPDX-License-Identifier: MIT
// A language model that several ranks share matrix by matrix (Shoeybi et al.
// 2019, Megatron-LM): each rank has its heads of the attention, its channels of
// the feed-forward layers and its words of the vocabulary. Norms and learned
// positions are whole.
//
// Matrices that read the residual stream are divided by rows, so that a rank
// makes its part of their result from all of the input (column-parallel in the
// paper, which has y = x W). Those that write to it are divided by columns, so
// that a rank reads its part and the results are summed (row-parallel); then
// each rank adds the whole bias. So a sublayer has one all-reduce forward and
// one backward, of [batch, seq, d_model] each.
// model/distributed/tensor_parallel/tensor_traffic.h counts them all.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_group.h"
#include "model/nn/layer_ranks.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/config.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {

// What the layers of a rank's part exchange with the other parts.
class TensorRanks final : public LayerRanks {
 public:
  // `group` outlives the object. Throws c10::Error unless its ranks can share
  // `whole` (ValidateParts).
  TensorRanks(const ModelConfig& whole, ProcessGroup& group);

  TensorGroup& group() { return group_; }
  const ModelConfig& whole() const { return whole_; }
  ModelConfig part() const;

  at::Tensor Enter(const at::Tensor& x) override;
  at::Tensor Leave(at::Tensor summand) override;
  at::Tensor Embed(const at::Tensor& weight, const at::Tensor& tokens) override;
  at::Tensor CrossEntropy(at::Tensor logits,
                          const at::Tensor& targets) override;

 private:
  ModelConfig whole_;
  TensorGroup group_;
  IndexRange words_;
};

// This rank's part of the model that TransformerLm(ranks.whole(), options)
// would be, weight by weight and bit by bit, with the same names: the default
// generator of the device gives the same numbers and is left as that would
// leave it. Holds no more than one whole block or table beside the part.
// `ranks` outlives the part. For one rank it is that model.
//
// Whatever trains a TransformerLm trains the part: the loss is the whole
// model's on each rank, and the gradients are the part's of the whole
// gradients. All ranks have the same batch.
TransformerLm MakePart(TensorRanks& ranks, const at::TensorOptions& options);

// This rank's part, a view, of a parameter of the whole model or its gradient:
// of the one dimension in which it is larger than `sizes`, the part's.
at::Tensor PartOf(const at::Tensor& whole, at::IntArrayRef sizes,
                  const ProcessGroup& group);

// The whole tensor [sizes] of all ranks' parts, on every rank. All call it
// together.
at::Tensor Assemble(const at::Tensor& part, at::IntArrayRef sizes,
                    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_
