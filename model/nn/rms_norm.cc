// SPDX-License-Identifier: MIT

#include "model/nn/rms_norm.h"

#include <torch/types.h>

#include "model/fused/rms_norm.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {

at::Tensor ComputeRmsNorm(const at::Tensor& x, const at::Tensor& weight,
                          Implementation implementation) {
  if (implementation != Implementation::kTextbook) {
    return at::rms_norm(x, weight.sizes(), weight, RmsNormImpl::kEps);
  }
  const at::Tensor wide = x.to(AtLeastFloat(x.scalar_type()));
  const at::Tensor inverse_rms =
      (wide.pow(2).mean(-1, /*keepdim=*/true) + RmsNormImpl::kEps).rsqrt();
  return (weight * (wide * inverse_rms)).to(x.scalar_type());
}

RmsNormImpl::RmsNormImpl(int64_t dim, const at::TensorOptions& options,
                         Implementation implementation)
    : weight(register_parameter("weight", at::ones({dim}, options))),
      implementation_(implementation) {}

at::Tensor RmsNormImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kNorm);
  return ComputeRmsNorm(x, weight, implementation_);
}

at::Tensor RmsNormImpl::AddAndNorm(ResidualStream& stream) {
  if (implementation_ != Implementation::kFused) return forward(stream.x);
  const ComponentScope scope(Component::kNorm);
  AddedAndNormed result = AddRmsNorm(stream.x, stream.update, weight, kEps);
  stream = {std::move(result.sum), {}};
  return std::move(result.normed);
}

}  // namespace trainbench
