// SPDX-License-Identifier: MIT

#include "model/ops/attention_fwd_bwd.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include "model/nn/attention/variants.h"

namespace trainbench {

AttentionInputs RandomAttentionInputs(int64_t batch, int64_t seq,
                                      int64_t d_head,
                                      const at::TensorOptions& options) {
  const auto draw = [&](bool needs_gradient) -> at::Tensor {
    return at::randn({batch, seq, d_head}, options)
        .requires_grad_(needs_gradient);
  };
  return {draw(true), draw(true), draw(true), draw(false)};
}

at::Tensor AttentionForward(AttentionKind kind, const AttentionInputs& inputs) {
  return ComputeAttention(kind, inputs.q, inputs.k, inputs.v);
}

AttentionGradients AttentionBackward(const AttentionInputs& inputs,
                                     const at::Tensor& output) {
  const std::vector<at::Tensor> gradients = torch::autograd::grad(
      {output}, {inputs.q, inputs.k, inputs.v}, {inputs.output_gradient});
  return {gradients[0], gradients[1], gradients[2]};
}

}  // namespace trainbench
