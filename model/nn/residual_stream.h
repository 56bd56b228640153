// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_
#define TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// What runs through the blocks: x [batch, seq, d_model] and, in the fused
// implementation, what a sublayer computed and the next norm adds to x.
struct ResidualStream {
  at::Tensor x;
  at::Tensor update;  // undefined: nothing
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_RESIDUAL_STREAM_H_
