// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_SOFTMAX_H_
#define TRAINBENCH_MODEL_FUSED_SOFTMAX_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// softmax(scale * scores) over the keys that a query may see, those up to
// itself, and 0 for the others: scores [..., seq, seq] -> the same shape and
// dtype, fp32 inside. There is no mask tensor, and masked scores are not read.
// Overwrites the scores with the result: move them in. Saves the result alone.
at::Tensor CausalSoftmax(at::Tensor scores, double scale);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_SOFTMAX_H_
