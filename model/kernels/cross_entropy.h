// SPDX-License-Identifier: MIT
// Cross entropy from logits. The gradient overwrites the logits.

#ifndef TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// losses[r] = log(sum(exp(x))) - x[target] for each row x of contiguous logits
// [rows, columns], computed in fp32. If `gradient`, the row is replaced by
// scale (softmax(x) - onehot(target)); scale = 1 / rows gives the gradient of
// the mean. The loss of a target that is not in [0, columns) is NaN.
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

// gradient *= *factor, the factor by which the loss is multiplied later. Reads
// and writes no gradient if the factor is 1.
struct CrossEntropyBackwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  const float* factor;
  void* gradient;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_H_
