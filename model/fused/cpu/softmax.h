// SPDX-License-Identifier: MIT
// The CPU kernels of model/fused/softmax.h and cross_entropy.h, on contiguous
// tensors.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_SOFTMAX_H_
#define TRAINBENCH_MODEL_FUSED_CPU_SOFTMAX_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// Replaces scores [..., queries, keys] by softmax(scale * scores) over the keys
// 0 .. query, and by 0 for later keys. There are as many queries as keys.
void CausalSoftmaxInPlaceCpu(const at::Tensor& scores, double scale);

// The gradient of the scores, given the gradient of the weights.
at::Tensor CausalSoftmaxBackwardCpu(const at::Tensor& gradient,
                                    const at::Tensor& weights, double scale);

// Returns the loss, fp32 [rows], of each row of logits [rows, vocab] for
// targets [rows]. If `with_gradient`, replaces the logits by the gradient of
// the mean loss. c10::Error if a target is not in [0, vocab).
at::Tensor CrossEntropyInPlaceCpu(const at::Tensor& logits,
                                  const at::Tensor& targets,
                                  bool with_gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_SOFTMAX_H_
