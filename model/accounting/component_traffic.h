// SPDX-License-Identifier: MIT
// The least bytes that a component moves in a phase, whoever implements it.
// Symbols as in accounting/traffic.h; a layer's bytes count for each layer, and
// vectors of fewer than n d elements only where they are parameters. C are the
// scores that the causal mask leaves, (seq + 1) / (2 seq) of S: nobody needs
// the others, although naive attention moves them. K are the keys of all
// tokens, n kv, as many as the values: D unless they have fewer heads.
//
//                      forward             backward
//   embedding          rows of W, r D      r D, p V d
//   projections        2 e D, 2 e K,       3 e D, 2 e K,
//                      p d^2, 2 p d kv     2 p d^2, 4 p d kv
//   rope               2 e D, 2 e K        2 e D, 2 e K
//   scores             e D, e K, e C       2 e D, 2 e K, e C
//   softmax            2 e C               3 e C
//   value              e D, e K, e C       e D, 2 e K, 2 e C
//   fused_attention    2 e D, 2 e K        3 e D, 4 e K
//   output_projection  2 e D, p d^2        3 e D, 2 p d^2
//   ffn                2 e D, 3 p d ff     3 e D, 6 p d ff
//   norm, each         2 r D, p d          3 r D, 2 p d
//   residual, each     (2 r + e) D         nothing: the gradient is passed on
//   lm_head            e D, e L, p V d     2 e D, e L, 2 p V d
//   cross_entropy      e L (in the loss)   2 e L
//   optimizer          OptimizerBytes (in its phase)
//
// A component reads its parameters and what others made, and writes what others
// need: in the backward pass it reads the inputs of the forward pass and the
// gradient of the result, and writes those of inputs and parameters.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_TRAFFIC_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_TRAFFIC_H_

#include "model/spec/component.h"
#include "model/spec/phase.h"
#include "model/spec/step_params.h"

namespace trainbench {

struct ComponentTraffic {
  double compulsory_bytes = 0;  // the table
  // Of one pass over what the component computes beside its matrix products; 0
  // where a product can do that as it reads or writes. All of the table for
  // embedding, rope, norm, residual, cross_entropy and optimizer. For softmax
  // 2 e S, backward 3 e S: an operator of its own is not told what is masked.
  // For ffn the SwiGLU: reads gate and value and writes their product, 3 e F;
  // backward reads that gradient, too, and writes two, 5 e F.
  double pass_bytes = 0;
};

// Of all layers. Nothing if the phase has no such component.
ComponentTraffic TrafficOf(const StepParams& step, Phase phase,
                           Component component);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_TRAFFIC_H_
