// SPDX-License-Identifier: MIT
// Embedding and loss of a language model with a vocabulary that ranks split
// (Shoeybi et al. 2019, Megatron-LM, section 3). Logits are not exchanged.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_group.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {

// `words` is this rank's range of a vocabulary that is split over the ranks.

// The embeddings [..., d_model] of `tokens` [...] (int64). `weight` [words,
// d_model] has the rows of the table for this rank's `words`. One all-reduce
// sums the results; each rank contributes the rows that it has.
at::Tensor EmbedOverRanks(const at::Tensor& weight, const at::Tensor& tokens,
                          const IndexRange& words, TensorGroup& ranks);

// The mean over all positions of -log softmax(logits)[target], a scalar,
// computed in at least fp32. This rank has the logits of `words`, contiguous
// [..., words]; `targets` [...] (int64) index the whole vocabulary. Two
// all-reduces: the largest logit of each position; and, together, its sum of
// exponentials and its target's logit.
//
// Overwrites the logits with their exponentials, and in the backward pass with
// the gradient: move the logits in, and run the backward pass only once.
at::Tensor CrossEntropyOverRanks(at::Tensor logits, const at::Tensor& targets,
                                 const IndexRange& words, TensorGroup& ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_
