// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_LAYER_RANKS_H_
#define TRAINBENCH_MODEL_NN_LAYER_RANKS_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// What layers exchange if each rank has a part of every matrix
// (model/distributed/tensor_parallel; Shoeybi et al. 2019, Megatron-LM). All
// ranks have the same tokens and the same residual stream.
class LayerRanks {
 public:
  virtual ~LayerRanks() = default;

  // The input of matrices of which each rank has some rows: x itself. Its
  // gradient is summed over the ranks.
  virtual at::Tensor Enter(const at::Tensor& x) = 0;
  // The sum over the ranks of what matrices made of which each rank has some
  // columns. Its gradient is that of each rank's summand.
  virtual at::Tensor Leave(at::Tensor summand) = 0;
  // The rows of `tokens` [...] of a table of which each rank has some,
  // `weight`: [..., d_model].
  virtual at::Tensor Embed(const at::Tensor& weight,
                           const at::Tensor& tokens) = 0;
  // The loss (model/nn/cross_entropy.h) of logits of which each rank has those
  // of its words, [..., words]. `targets` [...] are of the whole vocabulary.
  // Overwrites the logits: move them in, and run one backward pass.
  virtual at::Tensor CrossEntropy(at::Tensor logits,
                                  const at::Tensor& targets) = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_LAYER_RANKS_H_
