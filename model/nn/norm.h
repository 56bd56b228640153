// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_NORM_H_
#define TRAINBENCH_MODEL_NN_NORM_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/nn/residual_stream.h"
#include "model/spec/config.h"

namespace trainbench {

// Of both norms.
inline constexpr double kNormEps = 1e-5;

// y = g * x / sqrt(mean(x^2) + eps) over the last dimension (Zhang & Sennrich
// 2019), as the textbook writes it or LibTorch has it. Computed in at least
// fp32 and returned in the dtype of x.
at::Tensor ComputeRmsNorm(const at::Tensor& x, const at::Tensor& weight,
                          Implementation implementation);

// y = g * (x - mean(x)) / sqrt(var(x) + eps) + b (Ba et al. 2016), likewise. b
// may be undefined.
at::Tensor ComputeLayerNorm(const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias,
                            Implementation implementation);

// The norm of the config. g is [d_model], initialised to 1; b is 0.
class NormImpl : public torch::nn::Module {
 public:
  NormImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [..., d_model] -> [..., d_model].
  at::Tensor forward(const at::Tensor& x);

  // Adds the update to the stream and returns the stream's norm: in the fused
  // implementation at once if it is an RMSNorm, and under autocast in
  // autocast's dtype. In the others there is no update.
  at::Tensor AddAndNorm(ResidualStream& stream);

  at::Tensor weight;
  at::Tensor bias;  // undefined: none

 private:
  Normalization kind_;
  Implementation implementation_;
};
TORCH_MODULE(Norm);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_NORM_H_
