// SPDX-License-Identifier: MIT

#include "model/nn/cross_entropy.h"

#include <torch/types.h>

#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {

at::Tensor CrossEntropy(at::Tensor logits, const at::Tensor& targets) {
  const ComponentScope scope(Component::kCrossEntropy);
  logits = logits.to(AtLeastFloat(logits.scalar_type()));
  logits = logits - std::get<0>(logits.max(-1, /*keepdim=*/true));
  const at::Tensor log_sum = logits.exp().sum(-1, /*keepdim=*/true).log();
  const at::Tensor chosen = logits.gather(-1, targets.unsqueeze(-1));
  return (log_sum - chosen).mean();
}

}  // namespace trainbench
