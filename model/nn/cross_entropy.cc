// SPDX-License-Identifier: MIT

#include "model/nn/cross_entropy.h"

#include <torch/types.h>

#include "model/fused/cross_entropy.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {

at::Tensor CrossEntropy(at::Tensor logits, const at::Tensor& targets,
                        Implementation implementation) {
  const ComponentScope scope(Component::kCrossEntropy);
  if (implementation == Implementation::kFused) {
    return FusedCrossEntropy(std::move(logits), targets);
  }
  logits = logits.to(AtLeastFloat(logits.scalar_type()));
  if (implementation == Implementation::kLibrary) {
    return at::cross_entropy_loss(logits.flatten(0, -2), targets.flatten());
  }
  logits = logits - std::get<0>(logits.max(-1, /*keepdim=*/true));
  const at::Tensor log_sum = logits.exp().sum(-1, /*keepdim=*/true).log();
  const at::Tensor chosen = logits.gather(-1, targets.unsqueeze(-1));
  return (log_sum - chosen).mean();
}

}  // namespace trainbench
