// SPDX-License-Identifier: MIT

#include "model/nn/linear.h"

#include <torch/types.h>

#include <cmath>

#include "model/nn/initialization.h"

namespace trainbench {

LinearImpl::LinearImpl(int64_t in, int64_t out,
                       const at::TensorOptions& options)
    : weight(register_parameter("weight", at::empty({out, in}, options))) {
  TruncatedNormal_(weight, std::sqrt(2.0 / static_cast<double>(in + out)));
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  return at::linear(x, weight);
}

}  // namespace trainbench
