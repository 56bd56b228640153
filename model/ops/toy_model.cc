// SPDX-License-Identifier: MIT

#include "model/ops/toy_model.h"

#include <torch/types.h>

namespace trainbench {

ToyModelImpl::ToyModelImpl(c10::Device device)
    : fc1(register_module("fc1", Linear(kIn, kHidden, at::device(device)))),
      fc2(register_module("fc2", Linear(kHidden, kOut, at::device(device)))),
      norm_weight(register_parameter("norm_weight",
                                     at::ones({kHidden}, at::device(device)))),
      norm_bias(register_parameter("norm_bias",
                                   at::zeros({kHidden}, at::device(device)))) {}

ToyActivations ToyModelImpl::forward(const at::Tensor& x) {
  ToyActivations result;
  result.fc1 = fc1(x);
  result.relu = at::relu(result.fc1);
  result.layer_norm =
      at::layer_norm(result.relu, {kHidden}, norm_weight, norm_bias, kNormEps);
  result.logits = fc2(result.layer_norm);
  return result;
}

ToyBatch RandomToyBatch(int64_t batch, c10::Device device) {
  return {at::randn({batch, ToyModelImpl::kIn}, at::device(device)),
          at::randint(ToyModelImpl::kOut, {batch},
                      at::device(device).dtype(at::kLong))};
}

}  // namespace trainbench
