// SPDX-License-Identifier: MIT
// Softmax of attention scores, with the scale and the causal mask.

#ifndef TRAINBENCH_MODEL_KERNELS_SOFTMAX_H_
#define TRAINBENCH_MODEL_KERNELS_SOFTMAX_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// p = softmax(scale x) over each row of contiguous x [matrices, seq, seq],
// computed in fp32. Row i of a matrix uses columns 0 to i, and p is 0
// elsewhere. p may be x.
struct SoftmaxForwardArgs {
  Dtype dtype;
  int64_t matrices;
  int64_t seq;
  float scale;
  const void* x;
  void* p;
};

// grad_x = scale p (grad_p - sum(p grad_p)). grad_x may be grad_p.
struct SoftmaxBackwardArgs {
  Dtype dtype;
  int64_t matrices;
  int64_t seq;
  float scale;
  const void* p;
  const void* grad_p;
  void* grad_x;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_SOFTMAX_H_
