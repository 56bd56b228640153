// SPDX-License-Identifier: MIT
// Floating-point operations of the matrix products; a multiply-add counts as
// two. Elementwise work is not counted, as in the "model FLOPs" of PaLM
// (Chowdhery et al. 2022, appendix B). FLOPs of recomputation are separate:
// model FLOPs give MFU, and both together give HFU. Attention counts as the
// full seq x seq square although half of it is masked: the naive variant
// computes all of it, and variants stay comparable.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_

#include <cstdint>
#include <vector>

#include "model/spec/component.h"
#include "model/spec/config.h"
#include "model/spec/step_params.h"

namespace trainbench {

// Q K^T and P V in the forward pass, 2 * 2 batch seq^2 width, over all query
// heads, regardless of the number of key and value heads.
double AttentionFlops(int64_t batch, int64_t seq, int64_t width);

// AttentionFlops of one layer.
double LayerAttentionFlops(const ModelConfig& config, int64_t batch,
                           int64_t seq);

// The FLOPs of a forward pass that attention skips: the masked half of its
// products, or 0 if the variant computes them.
double SkippedFlops(const ModelConfig& config, int64_t batch, int64_t seq);

// Forward pass over n = batch * seq tokens: every matrix element is used once
// per token, 2 n (L (2 d^2 + 2 d kv + m d ff) + V d) as in parameters.h, and
// each layer adds LayerAttentionFlops. The input embedding is a look-up.
double ForwardFlops(const ModelConfig& config, int64_t batch, int64_t seq);

// FLOPs of one step of `mode`: a forward pass, and perhaps a backward pass of
// twice its FLOPs, because each product has two gradients of equal cost. The
// optimizer has no matrix products.
double StepFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                 StepMode mode);

// FLOPs that checkpointing adds to StepFlops in the backward pass: for blocks,
// their whole forward pass; for attention, LayerAttentionFlops of each layer. 0
// without a backward pass.
double RecomputedFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                       StepMode mode);

struct ComponentFlops {
  Component component;
  double flops = 0;
};

// The components with matrix products, in the order of kComponents; their sum
// is StepFlops. Fused attention includes the FLOPs of scores and value.
std::vector<ComponentFlops> FlopsByComponent(const ModelConfig& config,
                                             int64_t batch, int64_t seq,
                                             StepMode mode);

// Elementwise operations of one AdamW update, 14 per parameter: weight decay 1,
// the moments 3 and 4, the denominator 3, the step 3. Not part of StepFlops.
double AdamWFlops(const ModelConfig& config);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_FLOPS_H_
