// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_INITIALIZATION_H_
#define TRAINBENCH_MODEL_NN_INITIALIZATION_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/embedding.h>

#include <cstdint>

namespace trainbench {

// Fills `weight` in place from N(0, std^2) truncated to [-3 std, 3 std].
// Inverts the normal distribution on uniform draws, so one pass suffices. Draws
// from the default generator of the tensor's device, in fp32 for 16-bit
// tensors. Not recorded by autograd.
void TruncatedNormal_(const at::Tensor& weight, double std);

// A table of `vocab` vectors, initialized from N(0, 1) truncated at 3.
torch::nn::Embedding MakeEmbedding(int64_t vocab, int64_t d_model,
                                   const at::TensorOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_INITIALIZATION_H_
