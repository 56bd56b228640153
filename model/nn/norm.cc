// SPDX-License-Identifier: MIT

#include "model/nn/norm.h"

#include <torch/types.h>

#include <utility>

#include "model/fused/arguments.h"
#include "model/fused/rms_norm.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {

at::Tensor ComputeRmsNorm(const at::Tensor& x, const at::Tensor& weight,
                          Implementation implementation) {
  if (implementation != Implementation::kTextbook) {
    return at::rms_norm(x, weight.sizes(), weight, kNormEps);
  }
  const at::Tensor wide = x.to(AtLeastFloat(x.scalar_type()));
  const at::Tensor inverse_rms =
      (wide.pow(2).mean(-1, /*keepdim=*/true) + kNormEps).rsqrt();
  return (weight * (wide * inverse_rms)).to(x.scalar_type());
}

at::Tensor ComputeLayerNorm(const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias,
                            Implementation implementation) {
  if (implementation != Implementation::kTextbook) {
    return at::layer_norm(x, weight.sizes(), weight, bias, kNormEps);
  }
  at::Tensor wide = x.to(AtLeastFloat(x.scalar_type()));
  wide = wide - wide.mean(-1, /*keepdim=*/true);
  const at::Tensor inverse_deviation =
      (wide.pow(2).mean(-1, /*keepdim=*/true) + kNormEps).rsqrt();
  wide = weight * (wide * inverse_deviation);
  if (bias.defined()) wide = wide + bias;
  return wide.to(x.scalar_type());
}

NormImpl::NormImpl(const ModelConfig& config, const at::TensorOptions& options)
    : weight(register_parameter("weight", at::ones({config.d_model}, options))),
      kind_(config.norm),
      implementation_(config.implementation) {
  if (config.norms_have_biases()) {
    bias = register_parameter("bias", at::zeros({config.d_model}, options));
  }
}

at::Tensor NormImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kNorm);
  return kind_ == Normalization::kRms
             ? ComputeRmsNorm(x, weight, implementation_)
             : ComputeLayerNorm(x, weight, bias, implementation_);
}

at::Tensor NormImpl::AddAndNorm(ResidualStream& stream) {
  if (implementation_ != Implementation::kFused) return forward(stream.x);
  const ComponentScope scope(Component::kNorm);
  if (kind_ == Normalization::kRms) {
    AddedAndNormed result =
        AddRmsNorm(stream.x, stream.update, weight, kNormEps);
    stream = {std::move(result.sum), {}};
    return std::move(result.normed);
  }
  if (stream.update.defined()) stream = {stream.x + stream.update, {}};
  return ComputeLayerNorm(stream.x, weight, bias, implementation_)
      .to(ProductType(stream.x.scalar_type(), stream.x.device()));
}

}  // namespace trainbench
