// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_
#define TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// The state between blocks: x [batch, seq, d_model] and, in the fused
// implementation, the output of a sublayer, which the next norm adds to x.
struct ResidualStream {
  at::Tensor x;
  at::Tensor update;  // undefined: nothing
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_
