// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_RMS_NORM_H_
#define TRAINBENCH_MODEL_FUSED_RMS_NORM_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

struct AddedAndNormed {
  at::Tensor sum;     // residual + update, in the residual's dtype
  at::Tensor normed;  // weight * sum / sqrt(mean(sum^2) + eps)
};

// RMSNorm (Zhang & Sennrich 2019) with the preceding addition, in one pass over
// the residual stream: reads residual and update [..., dim] and writes both
// results. Without an update, `sum` is the residual. Computed in fp32; `normed`
// is in the residual's dtype or, under autocast, in autocast's. Saves `sum` and
// 1 / rms. The backward pass adds the gradients of both results.
AddedAndNormed AddRmsNorm(const at::Tensor& residual, const at::Tensor& update,
                          const at::Tensor& weight, double eps);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_RMS_NORM_H_
