// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
#define TRAINBENCH_MODEL_NN_FEED_FORWARD_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/nn/linear.h"
#include "model/spec/config.h"

namespace trainbench {

// W2 f(W1 x), of two matrices, or with a gate, of three: W2 (f(W1 x) * W3 x).
// Of ModelConfig::mlp f is
//
//   swiglu   silu(a) = a * sigmoid(a), with the gate (Shazeer 2020)
//   gelu     a * (1 + erf(a / sqrt 2)) / 2
//   relu2    max(a, 0)^2
//
// The textbook writes it out, the library has operators. Fused, W1 and W3 of a
// SwiGLU are one product, and one pass makes the rest.
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [batch, seq, d_model] -> same shape.
  at::Tensor forward(const at::Tensor& x);

  Linear w1;  // d_model -> d_ff, the gate if there is one
  Linear w3;  // d_model -> d_ff, the value; without a gate empty
  Linear w2;  // d_ff -> d_model

 private:
  Mlp mlp_;
  Implementation implementation_;
};
TORCH_MODULE(FeedForward);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
