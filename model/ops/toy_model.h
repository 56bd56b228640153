// SPDX-License-Identifier: MIT
// The ToyModel of the CS336 assignment, and the dtypes that autocast gives its
// tensors.

#ifndef TRAINBENCH_MODEL_OPS_TOY_MODEL_H_
#define TRAINBENCH_MODEL_OPS_TOY_MODEL_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/linear.h"
#include "model/spec/phase.h"

namespace trainbench {

struct ToyActivations {
  at::Tensor fc1, relu, layer_norm, logits;
};

// fc2(layer_norm(relu(fc1(x)))) with 10 hidden features and no bias except in
// the norm. Parameters are fp32 unless the module is cast.
class ToyModelImpl : public torch::nn::Module {
 public:
  static constexpr int64_t kHidden = 10;

  ToyModelImpl(int64_t in, int64_t out, c10::Device device);

  // x [batch, in] -> activations [batch, 10] and logits [batch, out].
  ToyActivations forward(const at::Tensor& x);

  Linear fc1, fc2;
  at::Tensor norm_weight, norm_bias;  // [10]
};
TORCH_MODULE(ToyModel);

// x [batch, in] normal fp32, targets [batch] uniform in [0, out), int64.
struct ToyBatch {
  at::Tensor x, targets;
};
ToyBatch RandomToyBatch(int64_t batch, int64_t in, int64_t out,
                        c10::Device device);

// A tensor's name in the step and its dtype, e.g. {"logits", fp16}.
struct NamedDtype {
  const char* name;
  c10::ScalarType dtype;
  bool operator==(const NamedDtype& other) const;
};
using Dtypes = std::vector<NamedDtype>;

// Forward pass and cross-entropy under autocast in `low`, then backward outside
// autocast. Returns the dtypes of these tensors: parameters, fc1, relu,
// layer_norm, logits, loss, gradients. Releases the gradients.
Dtypes RunToyStep(ToyModel& model, const ToyBatch& data, c10::ScalarType low,
                  PhaseObserver& observer);

// The dtypes that PyTorch documents for autocast in `low`: `low` for matrix
// products, fp32 for losses; for layer_norm fp32 on CUDA and the input's dtype
// on a CPU; parameters and gradients stay fp32.
// docs.pytorch.org/docs/2.11/amp.html#autocast-op-reference
Dtypes DocumentedDtypes(c10::ScalarType low, c10::DeviceType device);

// FailedPrecondition names each tensor with an unexpected dtype.
absl::Status CompareDtypes(const Dtypes& found, const Dtypes& expected);

// FailedPrecondition if the logits under autocast differ from float64 logits by
// more than rounding to `low` explains, or for a constant input.
absl::Status CheckToyLogits(ToyModel& model, const at::Tensor& x,
                            c10::ScalarType low);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_TOY_MODEL_H_
