// SPDX-License-Identifier: MIT
// The traffic in a step among ranks that split a model's matrices.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_

#include <cstdint>

#include "model/distributed/comm/traffic.h"
#include "model/spec/step_params.h"

namespace trainbench {

// The all-reduces of the forward pass, including the loss, and, if `backward`,
// of the backward pass, among `ranks` ranks; `part` is one rank's part of the
// model. For B T tokens and L layers:
//
//                  forward               backward   recomputed
//   embedding      r B T d               -          -
//   a sublayer     e B T d               i B T d    e B T d
//   head           -                     i B T d    -
//   loss           4 B T and 2 * 4 B T   -          -
//
// Bytes per value: r in the residual stream, e in the result of a product, i in
// the result of a norm, which under autocast is fp32 unless the implementation
// is fused (accounting/traffic.h has them by precision). There are 2 L
// sublayers; a backward pass that recomputes blocks repeats their forward
// all-reduces, and recomputed attention has none. No traffic for one rank.
Traffic TensorTrafficOf(const StepParams& part, int64_t ranks, bool backward);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_
