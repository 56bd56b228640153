// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// Mean over all positions of -log softmax(logits)[target], computed in at least
// fp32 with the maximum subtracted.
// logits [..., vocab], targets [...] (int64) -> scalar.
// Move the logits in to free them after their last use.
at::Tensor CrossEntropy(at::Tensor logits, const at::Tensor& targets);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
