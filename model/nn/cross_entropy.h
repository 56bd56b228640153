// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// Mean over all positions of -log softmax(logits)[target], computed in at least
// fp32 with the maximum subtracted.
// logits [..., vocab], targets [...] (int64) -> scalar.
// Takes the logits by value: a caller that moves them in lets them be freed as
// soon as they are used up.
at::Tensor CrossEntropy(at::Tensor logits, const at::Tensor& targets);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
