// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_NORM_H_
#define TRAINBENCH_MODEL_NN_NORM_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/spec/config.h"

namespace trainbench {

// The state between blocks: x [batch, seq, d_model] and, in the fused
// implementation, the output of a sublayer, which the next norm adds to x.
struct ResidualStream {
  at::Tensor x;
  at::Tensor update;  // undefined: nothing
};

// The epsilon of both norms.
inline constexpr double kNormEps = 1e-5;

// y = g * x / sqrt(mean(x^2) + eps) over the last dimension (Zhang & Sennrich
// 2019), in textbook operations or LibTorch's operator. Computed in at least
// fp32 and returned in the dtype of x.
at::Tensor ComputeRmsNorm(const at::Tensor& x, const at::Tensor& weight,
                          Implementation implementation);

// y = g * (x - mean(x)) / sqrt(var(x) + eps) + b (Ba et al. 2016), computed
// likewise. b may be undefined.
at::Tensor ComputeLayerNorm(const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias,
                            Implementation implementation);

// The norm that the config selects. g is [d_model], initialized to 1; b is 0.
class NormImpl : public torch::nn::Module {
 public:
  NormImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [..., d_model] -> [..., d_model].
  at::Tensor forward(const at::Tensor& x);

  // Adds the update, if any, to the stream and returns the norm of the sum. A
  // fused RMSNorm does both in one pass. Under autocast, fused norms return
  // autocast's dtype. Only the fused implementation has updates.
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
