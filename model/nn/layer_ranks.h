// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_LAYER_RANKS_H_
#define TRAINBENCH_MODEL_NN_LAYER_RANKS_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// The exchanges of layers when each rank has a part of every matrix
// (model/distributed/tensor_parallel; Shoeybi et al. 2019, Megatron-LM). All
// ranks have the same tokens and the same residual stream.
class LayerRanks {
 public:
  virtual ~LayerRanks() = default;

  // Returns x itself, the input of matrices that are split by rows. Its
  // gradient is summed over the ranks.
  virtual at::Tensor Enter(const at::Tensor& x) = 0;
  // Returns the sum over the ranks of the outputs of matrices that are split by
  // columns. Each summand's gradient is the gradient of the sum.
  virtual at::Tensor Leave(at::Tensor summand) = 0;
  // Looks up `tokens` [...] in a table that is split by rows; `weight` is this
  // rank's part. Returns [..., d_model].
  virtual at::Tensor Embed(const at::Tensor& weight,
                           const at::Tensor& tokens) = 0;
  // The loss (model/nn/cross_entropy.h) of logits [..., words] for this rank's
  // words only. `targets` [...] index the whole vocabulary. Overwrites the
  // logits: move them in, and run the backward pass only once.
  virtual at::Tensor CrossEntropy(at::Tensor logits,
                                  const at::Tensor& targets) = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_LAYER_RANKS_H_
