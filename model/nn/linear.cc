// SPDX-License-Identifier: MIT

#include "model/nn/linear.h"

#include <torch/types.h>

#include <cmath>

#include "model/fused/product.h"
#include "model/nn/initialization.h"

namespace trainbench {

LinearImpl::LinearImpl(int64_t in, int64_t out,
                       const at::TensorOptions& options,
                       Implementation implementation, bool has_bias)
    : LinearImpl(at::empty({out, in}, options), implementation, has_bias) {}

LinearImpl::LinearImpl(const at::Tensor& uninitialized,
                       Implementation implementation, bool has_bias)
    : weight(register_parameter("weight", uninitialized)),
      implementation_(implementation) {
  const auto ends = static_cast<double>(weight.size(0) + weight.size(1));
  TruncatedNormal_(weight, std::sqrt(2.0 / ends));
  if (!has_bias) return;
  bias = register_parameter(
      "bias", at::zeros({weight.size(0)}, uninitialized.options()));
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  const at::Tensor added = leaves_bias_ ? at::Tensor() : bias;
  return implementation_ == Implementation::kFused
             ? LinearProduct(x, weight, added)
             : at::linear(x, weight, added);
}

at::Tensor LinearImpl::AddBias(at::Tensor product) const {
  if (!bias.defined()) return product;
  return product + bias.to(product.scalar_type());
}

std::vector<Linear> MakeLinears(int64_t in, const std::vector<int64_t>& outs,
                                const at::TensorOptions& options,
                                Implementation implementation, bool has_bias) {
  std::vector<Linear> linears;
  if (implementation == Implementation::kFused) {
    for (const at::Tensor& weight : AdjacentMatrices(outs, in, options)) {
      linears.emplace_back(weight, implementation, has_bias);
    }
    return linears;
  }
  for (const int64_t out : outs) {
    linears.emplace_back(in, out, options, implementation, has_bias);
  }
  return linears;
}

at::Tensor ProductOf(const at::Tensor& x, const std::vector<Linear>& linears) {
  std::vector<at::Tensor> weights, biases;
  for (const Linear& linear : linears) {
    weights.push_back(linear->weight);
    if (linear->bias.defined()) biases.push_back(linear->bias);
  }
  return JoinedProduct(x, weights, biases);
}

}  // namespace trainbench
