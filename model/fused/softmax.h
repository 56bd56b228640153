// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_SOFTMAX_H_
#define TRAINBENCH_MODEL_FUSED_SOFTMAX_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// softmax(scale * scores) over the keys up to the query, and 0 for later keys:
// scores [..., seq, seq] -> the same shape and dtype, computed in fp32. There
// is no mask tensor, and masked scores are not read. Overwrites the scores with
// the result: move them in. Saves only the result.
at::Tensor CausalSoftmax(at::Tensor scores, double scale);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_SOFTMAX_H_
