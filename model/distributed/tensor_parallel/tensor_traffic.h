// SPDX-License-Identifier: MIT
// What the ranks that share a model's matrices exchange in a step.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_

#include <cstdint>

#include "model/distributed/comm/traffic.h"
#include "model/spec/step_params.h"

namespace trainbench {

// The all-reduces of the forward pass and, if `backward`, of the backward pass
// of one rank's part of a model, the loss included, among `ranks`. For B T
// tokens and L layers:
//
//                  forward               backward   recomputed
//   embedding      r B T d               -          -
//   a sublayer     e B T d               i B T d    e B T d
//   head           -                     i B T d    -
//   loss           4 B T and 2 * 4 B T   -          -
//
// Bytes of a value: r of the residual stream, e of a product's result and i of
// a norm's result, which under autocast is fp32 unless the implementation is
// fused (accounting/traffic.h has them by precision). There are 2 L sublayers,
// which a backward pass that recomputes blocks does again. Recomputed attention
// has no sum. Nothing for one rank.
Traffic TensorTrafficOf(const StepParams& part, int64_t ranks, bool backward);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_TRAFFIC_H_
