// SPDX-License-Identifier: MIT
// Cross entropy from logits, whose gradient takes the place of the logits.

#ifndef TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// losses[r] = log(sum(exp(x))) - x[target] for each row x of logits [rows,
// columns], contiguous, in fp32 inside. With a gradient, the row becomes scale
// (softmax(x) - onehot(target)): 1 / rows is the gradient of the mean. A target
// that is not in [0, columns) gives a loss of NaN.
struct CrossEntropyForwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  float scale;
  bool gradient;
  const int64_t* targets;  // [rows]
  void* logits;
  float* losses;  // [rows]
};

// gradient *= *factor: what the loss is multiplied with later. Nothing is read
// or written where the factor is 1.
struct CrossEntropyBackwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  const float* factor;
  void* gradient;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_
