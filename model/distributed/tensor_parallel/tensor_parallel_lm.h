// SPDX-License-Identifier: MIT
// A language model that several ranks split matrix by matrix (Shoeybi et al.
// 2019, Megatron-LM): each rank has its heads of the attention, its channels of
// the feed-forward layers and its words of the vocabulary. Norms and learned
// positions are not split.
//
// Matrices that read the residual stream are split by rows, so that a rank
// computes its part of the output from the whole input (column-parallel in the
// paper, which has y = x W). Matrices that write to it are split by columns, so
// that a rank reads its part of the input and the results are summed
// (row-parallel); then each rank adds the whole bias. So a sublayer has one
// all-reduce forward and one backward, of [batch, seq, d_model] each.
// model/distributed/tensor_parallel/tensor_traffic.h counts all of them.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/nn/transformer_lm.h"

namespace trainbench {

// Creates this rank's part of TransformerLm(ranks.whole(), options), with the
// same names and bitwise equal weights. Draws the same numbers from the
// device's default generator and leaves it in the same state. Allocates at most
// one whole block or table in addition to the part. `ranks` must outlive the
// part. With one rank, returns that whole model.
//
// A part is trained like any TransformerLm. On each rank, the loss is the whole
// model's, and the gradients are the rank's part of the whole gradients. All
// ranks must have the same batch.
TransformerLm MakePart(TensorRanks& ranks, const at::TensorOptions& options);

// Returns a view of this rank's part of a whole parameter or gradient. `sizes`
// is the part's shape, which is smaller in at most one dimension.
at::Tensor PartOf(const at::Tensor& whole, at::IntArrayRef sizes,
                  const ProcessGroup& group);

// Returns the whole tensor [sizes], assembled from all ranks' parts, on every
// rank. All ranks call it together.
at::Tensor Assemble(const at::Tensor& part, at::IntArrayRef sizes,
                    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_LM_H_
