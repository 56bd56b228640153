// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_RMS_NORM_H_
#define TRAINBENCH_MODEL_NN_RMS_NORM_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "model/nn/residual_stream.h"
#include "model/spec/implementation.h"

namespace trainbench {

// The norm of RmsNorm below, as the textbook writes it or LibTorch has it.
at::Tensor ComputeRmsNorm(const at::Tensor& x, const at::Tensor& weight,
                          Implementation implementation);

// y = g * x / sqrt(mean(x^2) + eps) over the last dimension (Zhang & Sennrich
// 2019), computed in at least fp32 and returned in the dtype of x. g is [dim],
// initialised to 1.
class RmsNormImpl : public torch::nn::Module {
 public:
  static constexpr double kEps = 1e-5;

  RmsNormImpl(int64_t dim, const at::TensorOptions& options,
              Implementation implementation = Implementation::kTextbook);

  // x [..., dim] -> [..., dim].
  at::Tensor forward(const at::Tensor& x);

  // Adds the update to the stream and returns the stream's norm: in the fused
  // implementation at once, and under autocast in autocast's dtype. In the
  // others there is no update.
  at::Tensor AddAndNorm(ResidualStream& stream);

  at::Tensor weight;

 private:
  Implementation implementation_;
};
TORCH_MODULE(RmsNorm);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_RMS_NORM_H_
