// SPDX-License-Identifier: MIT

#include "model/nn/initialization.h"

#include <torch/types.h>

#include <cmath>

#include "model/nn/dtype.h"

namespace trainbench {

void TruncatedNormal_(const at::Tensor& weight, double std) {
  constexpr double kCut = 3;  // standard deviations
  const at::NoGradGuard no_grad;
  const at::ScalarType dtype = AtLeastFloat(weight.scalar_type());
  at::Tensor values =
      dtype == weight.scalar_type()
          ? weight.detach()
          : at::empty_like(weight, weight.options().dtype(dtype));
  // erf(kCut / sqrt 2) is the mass inside the cut; erfinv maps a uniform draw
  // in that range to a normal one.
  const double mass = std::erf(kCut / std::sqrt(2.0));
  values.uniform_(-mass, mass).erfinv_().mul_(std * std::sqrt(2.0));
  // Rounding in erfinv near the ends may exceed the cut by an ulp.
  values.clamp_(-kCut * std, kCut * std);
  if (dtype != weight.scalar_type()) weight.detach().copy_(values);
}

torch::nn::Embedding MakeEmbedding(int64_t vocab, int64_t d_model,
                                   const at::TensorOptions& options) {
  const at::Tensor weight = at::empty({vocab, d_model}, options);
  TruncatedNormal_(weight, 1.0);
  // LibTorch draws no numbers for a weight that it is given.
  return torch::nn::Embedding(
      torch::nn::EmbeddingOptions(vocab, d_model)._weight(weight));
}

}  // namespace trainbench
