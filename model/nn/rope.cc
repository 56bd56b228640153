// SPDX-License-Identifier: MIT

#include "model/nn/rope.h"

#include <torch/types.h>

#include "model/nn/dtype.h"

namespace trainbench {

void Rope::EnsureTables(int64_t seq, const at::TensorOptions& options) {
  if (cos_.defined() && cos_.size(0) >= seq &&
      cos_.scalar_type() == c10::typeMetaToScalarType(options.dtype()) &&
      cos_.device() == options.device()) {
    return;
  }
  const at::NoGradGuard no_grad;
  // Angles in float64: position * frequency loses bits in fp32 at long context.
  const at::TensorOptions wide = options.dtype(at::kDouble);
  const at::Tensor exponent = at::arange(0, d_head_, 2, wide) / d_head_;
  const at::Tensor frequency = at::pow(kTheta, -exponent);
  const at::Tensor angle = at::outer(at::arange(seq, wide), frequency);
  cos_ = angle.cos().to(options.dtype());
  sin_ = angle.sin().to(options.dtype());
}

std::pair<at::Tensor, at::Tensor> Rope::Tables(
    int64_t seq, const at::TensorOptions& options) {
  EnsureTables(seq, options.requires_grad(false));
  return {cos_.narrow(0, 0, seq), sin_.narrow(0, 0, seq)};
}

at::Tensor Rope::Rotate(const at::Tensor& x) {
  const at::ScalarType wide = AtLeastFloat(x.scalar_type());
  const auto [cos, sin] = Tables(x.size(-2), x.options().dtype(wide));
  const at::Tensor even = x.slice(-1, 0, std::nullopt, 2);
  const at::Tensor odd = x.slice(-1, 1, std::nullopt, 2);
  const at::Tensor turned =
      at::stack({even * cos - odd * sin, even * sin + odd * cos}, -1);
  return turned.flatten(-2).to(x.scalar_type());
}

}  // namespace trainbench
