// SPDX-License-Identifier: MIT
// The two ends of a language model whose vocabulary the ranks share (Shoeybi et
// al. 2019, Megatron-LM, section 3). No rank sees another one's logits.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_group.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {

// `words` are this rank's, of a vocabulary that the ranks divide.

// The embeddings [..., d_model] of `tokens` [...] (int64) in a table of which
// this rank has the rows of `words`, `weight` [words, d_model]. One all-reduce
// of the result, to which each rank adds the rows that it has.
at::Tensor EmbedOverRanks(const at::Tensor& weight, const at::Tensor& tokens,
                          const IndexRange& words, TensorGroup& ranks);

// The mean over all positions of -log softmax(logits)[target], a scalar,
// computed in at least fp32. This rank has the logits of `words`, contiguous
// [..., words]; `targets` [...] (int64) are of the whole vocabulary. Two
// all-reduces of a number for each position: of the largest logit, and of the
// sum of the exponentials together with the target's logit.
//
// Overwrites the logits with their exponentials, and these in the backward pass
// with the gradient: move the logits in, and run one backward pass.
at::Tensor CrossEntropyOverRanks(at::Tensor logits, const at::Tensor& targets,
                                 const IndexRange& words, TensorGroup& ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_VOCABULARY_H_
