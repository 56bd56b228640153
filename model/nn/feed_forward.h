// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
#define TRAINBENCH_MODEL_NN_FEED_FORWARD_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/nn/linear.h"
#include "model/spec/config.h"

namespace trainbench {

// SwiGLU (Shazeer 2020): W2 (silu(W1 x) * W3 x), with silu(a) = a * sigmoid(a).
// The textbook writes it out, the library has silu. Fused, W1 and W3 are one
// product, and one pass makes the rest.
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [batch, seq, d_model] -> same shape.
  at::Tensor forward(const at::Tensor& x);

  Linear w1;  // d_model -> d_ff, the gate
  Linear w3;  // d_model -> d_ff, the value
  Linear w2;  // d_ff -> d_model

 private:
  Implementation implementation_;
};
TORCH_MODULE(FeedForward);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_FEED_FORWARD_H_
