// SPDX-License-Identifier: MIT
// The ToyModel of the CS336 assignment, and its data.

#ifndef TRAINBENCH_MODEL_OPS_TOY_MODEL_H_
#define TRAINBENCH_MODEL_OPS_TOY_MODEL_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "model/nn/linear.h"

namespace trainbench {

struct ToyActivations {
  at::Tensor fc1, relu, layer_norm, logits;
};

// fc2(layer_norm(relu(fc1(x)))) with 20, 10 and 5 features and no bias except
// in the norm. Parameters are fp32 unless the module is cast.
class ToyModelImpl : public torch::nn::Module {
 public:
  static constexpr int64_t kIn = 20, kHidden = 10, kOut = 5;
  static constexpr double kNormEps = 1e-5;

  explicit ToyModelImpl(c10::Device device);

  // x [batch, 20] -> activations [batch, 10] and logits [batch, 5].
  ToyActivations forward(const at::Tensor& x);

  Linear fc1, fc2;
  at::Tensor norm_weight, norm_bias;  // [10]
};
TORCH_MODULE(ToyModel);

// x [batch, 20] normal fp32, targets [batch] uniform in [0, 5), int64.
struct ToyBatch {
  at::Tensor x, targets;
};
ToyBatch RandomToyBatch(int64_t batch, c10::Device device);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_TOY_MODEL_H_
