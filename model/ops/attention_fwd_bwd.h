// SPDX-License-Identifier: MIT
// One forward and backward pass of causal attention alone, without heads.

#ifndef TRAINBENCH_MODEL_OPS_ATTENTION_FWD_BWD_H_
#define TRAINBENCH_MODEL_OPS_ATTENTION_FWD_BWD_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/spec/attention_variant.h"

namespace trainbench {

// All are [batch, seq, d_head].
struct AttentionInputs {
  at::Tensor q, k, v;          // leaves that require gradients
  at::Tensor output_gradient;  // input of the backward pass
};

struct AttentionGradients {
  at::Tensor q, k, v;
};

// Standard normal values from the default generator.
AttentionInputs RandomAttentionInputs(int64_t batch, int64_t seq,
                                      int64_t d_head,
                                      const at::TensorOptions& options);

// Returns [batch, seq, d_head] with its graph. Throws c10::Error if the variant
// does not support the inputs.
at::Tensor AttentionForward(AttentionKind kind, const AttentionInputs& inputs);

// `output` must come from AttentionForward. Frees its graph.
AttentionGradients AttentionBackward(const AttentionInputs& inputs,
                                     const at::Tensor& output);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ATTENTION_FWD_BWD_H_
