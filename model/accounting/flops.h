// SPDX-License-Identifier: MIT
// Floating-point operations of the matrix products, a multiply-add counted as
// two. Elementwise work is not counted, as in the "model FLOPs" of PaLM
// (Chowdhery et al. 2022, appendix B); neither is recomputation, whose FLOPs
// are apart: a share of a peak is the model's with the former alone (MFU) and
// the hardware's with both (HFU). Attention counts as the full seq x seq square
// although half of it is masked: the naive variant computes all of it, and
// variants stay comparable.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_

#include <cstdint>
#include <vector>

#include "model/spec/component.h"
#include "model/spec/config.h"
#include "model/spec/step_mode.h"

namespace trainbench {

// Q K^T and P V in the forward pass, 2 * 2 batch seq^2 width, of all heads
// together, however many heads of queries read one of keys and values.
double AttentionFlops(int64_t batch, int64_t seq, int64_t width);

// Of one layer.
double LayerAttentionFlops(const ModelConfig& config, int64_t batch,
                           int64_t seq);

// Forward pass over n = batch * seq tokens: every weight element of a matrix is
// used once per token, 2 n (L (2 d^2 + 2 d kv + m d ff) + V d) as in
// parameters.h, and each layer adds LayerAttentionFlops. The input embedding is
// a lookup.
double ForwardFlops(const ModelConfig& config, int64_t batch, int64_t seq);

// Backward pass: each product of the forward pass has two gradients, each of
// the forward's cost, so twice ForwardFlops.
double BackwardFlops(const ModelConfig& config, int64_t batch, int64_t seq);

// FLOPs of one step of `mode`: forward only, or forward and backward. The
// optimizer multiplies no matrices.
double StepFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                 StepMode mode);

// What the backward pass multiplies once more because the model's config keeps
// less, beside StepFlops: of blocks all that their forward pass does, of
// attention LayerAttentionFlops of each layer. 0 without a backward pass.
double RecomputedFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                       StepMode mode);

struct ComponentFlops {
  Component component;
  double flops = 0;
};

// In the order of kComponents, those that multiply matrices; together
// StepFlops. Fused attention has those of scores and value.
std::vector<ComponentFlops> FlopsByComponent(const ModelConfig& config,
                                             int64_t batch, int64_t seq,
                                             StepMode mode);

// Elementwise operations of one AdamW update, 14 for each parameter: weight
// decay 1, the moments 3 and 4, the denominator 3, the step 3. They are no part
// of StepFlops.
double AdamWFlops(const ModelConfig& config);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_
