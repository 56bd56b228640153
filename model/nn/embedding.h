// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_EMBEDDING_H_
#define TRAINBENCH_MODEL_NN_EMBEDDING_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

namespace trainbench {

// A table of `vocab` vectors, initialized from N(0, 1) truncated at 3.
class EmbeddingImpl : public torch::nn::Module {
 public:
  EmbeddingImpl(int64_t vocab, int64_t d_model,
                const at::TensorOptions& options);

  // tokens [...] (int64, in [0, vocab)) -> [..., d_model].
  at::Tensor forward(const at::Tensor& tokens);

  at::Tensor weight;
};
TORCH_MODULE(Embedding);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_EMBEDDING_H_
