// SPDX-License-Identifier: MIT

#include "model/nn/embedding.h"

#include <torch/types.h>

#include "model/nn/initialization.h"

namespace trainbench {

EmbeddingImpl::EmbeddingImpl(int64_t vocab, int64_t d_model,
                             const at::TensorOptions& options)
    : weight(
          register_parameter("weight", at::empty({vocab, d_model}, options))) {
  TruncatedNormal_(weight, 1.0);
}

at::Tensor EmbeddingImpl::forward(const at::Tensor& tokens) {
  return at::embedding(weight, tokens);
}

}  // namespace trainbench
