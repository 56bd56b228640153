// SPDX-License-Identifier: MIT

#include "model/nn/linear.h"

#include <torch/types.h>

#include <cmath>

#include "model/fused/product.h"
#include "model/nn/initialization.h"

namespace trainbench {

LinearImpl::LinearImpl(int64_t in, int64_t out,
                       const at::TensorOptions& options,
                       Implementation implementation)
    : LinearImpl(at::empty({out, in}, options), implementation) {}

LinearImpl::LinearImpl(const at::Tensor& uninitialised,
                       Implementation implementation)
    : weight(register_parameter("weight", uninitialised)),
      implementation_(implementation) {
  const auto ends = static_cast<double>(weight.size(0) + weight.size(1));
  TruncatedNormal_(weight, std::sqrt(2.0 / ends));
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  return implementation_ == Implementation::kFused ? LinearProduct(x, weight)
                                                   : at::linear(x, weight);
}

std::vector<Linear> MakeLinears(int64_t in, const std::vector<int64_t>& outs,
                                bool adjacent,
                                const at::TensorOptions& options) {
  std::vector<Linear> linears;
  if (adjacent) {
    for (const at::Tensor& weight : AdjacentMatrices(outs, in, options)) {
      linears.emplace_back(weight);
    }
    return linears;
  }
  for (const int64_t out : outs) linears.emplace_back(in, out, options);
  return linears;
}

}  // namespace trainbench
