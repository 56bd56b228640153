// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_RMS_NORM_H_
#define TRAINBENCH_MODEL_NN_RMS_NORM_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

namespace trainbench {

// y = g * x / sqrt(mean(x^2) + eps) over the last dimension (Zhang & Sennrich
// 2019), computed in at least fp32 and returned in the dtype of x. g is [dim],
// initialised to 1.
class RmsNormImpl : public torch::nn::Module {
 public:
  static constexpr double kEps = 1e-5;

  RmsNormImpl(int64_t dim, const at::TensorOptions& options);

  // x [..., dim] -> [..., dim].
  at::Tensor forward(const at::Tensor& x);

  at::Tensor weight;
};
TORCH_MODULE(RmsNorm);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_RMS_NORM_H_
