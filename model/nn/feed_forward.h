// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
#define TRAINBENCH_MODEL_NN_FEED_FORWARD_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/nn/linear.h"
#include "model/spec/config.h"

namespace trainbench {

// W2 f(W1 x) or, with a gate, W2 (f(W1 x) * W3 x). ModelConfig::mlp selects f:
//
//   swiglu   silu(a) = a * sigmoid(a), with the gate (Shazeer 2020)
//   gelu     a * (1 + erf(a / sqrt 2)) / 2
//   relu2    max(a, 0)^2
//
// Textbook writes f out; library calls LibTorch's operators; fused computes W1
// x and W3 x of a SwiGLU as one product, and the rest up to W2 in one pass.
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [batch, seq, d_model] -> same shape.
  at::Tensor forward(const at::Tensor& x);

  Linear w1;  // d_model -> d_ff; the gate, if any
  Linear w3;  // d_model -> d_ff; the value, empty without a gate
  Linear w2;  // d_ff -> d_model

 private:
  Mlp mlp_;
  Implementation implementation_;
};
TORCH_MODULE(FeedForward);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
