// SPDX-License-Identifier: MIT

#include "model/nn/rms_norm.h"

#include <torch/types.h>

#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {

RmsNormImpl::RmsNormImpl(int64_t dim, const at::TensorOptions& options)
    : weight(register_parameter("weight", at::ones({dim}, options))) {}

at::Tensor RmsNormImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kNorm);
  const at::Tensor wide = x.to(AtLeastFloat(x.scalar_type()));
  const at::Tensor inverse_rms =
      (wide.pow(2).mean(-1, /*keepdim=*/true) + kEps).rsqrt();
  return (weight * (wide * inverse_rms)).to(x.scalar_type());
}

}  // namespace trainbench
