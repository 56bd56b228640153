// SPDX-License-Identifier: MIT
// One forward and backward pass of causal attention alone, without heads.

#ifndef TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_FWD_BWD_H_
#define TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_FWD_BWD_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "model/nn/sdpa_backend.h"

namespace trainbench {

// Each is [batch, seq, d_head].
struct AttentionInputs {
  at::Tensor q, k, v;          // leaves that require gradients
  at::Tensor output_gradient;  // given to the backward pass
};

struct AttentionGradients {
  at::Tensor q, k, v;
};

// Standard normal values from the default generator.
AttentionInputs RandomAttentionInputs(int64_t batch, int64_t seq,
                                      int64_t d_head,
                                      const at::TensorOptions& options);

// Without a backend NaiveAttention, else SdpaAttention restricted to that
// backend, on views [batch, 1, seq, d_head]. Returns [batch, seq, d_head] with
// its graph. Throws c10::Error if the backend cannot serve the call.
at::Tensor AttentionForward(std::optional<SdpaBackend> backend,
                            const AttentionInputs& inputs);

// `output` comes from AttentionForward. Frees its graph.
AttentionGradients AttentionBackward(const AttentionInputs& inputs,
                                     const at::Tensor& output);

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_ATTENTION_SCALING_ATTENTION_FWD_BWD_H_
