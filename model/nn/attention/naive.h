// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_NAIVE_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_NAIVE_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// Softmax over the last dimension in five passes: max, subtract, exp, sum,
// divide. Computed and returned in at least fp32. Move `x` in to free it after
// the first pass.
at::Tensor NaiveSoftmax(at::Tensor x);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_NAIVE_H_
