// SPDX-License-Identifier: MIT
// The CPU kernels of model/fused/rms_norm.h. Tensors are contiguous. R is the
// dtype of the residual stream and the weight, E the dtype of the update and
// the normed result: E is R, or bf16 if R is fp32.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_RMS_NORM_H_
#define TRAINBENCH_MODEL_FUSED_CPU_RMS_NORM_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

struct FusedNormResult {
  at::Tensor sum;          // R [..., dim]
  at::Tensor normed;       // E [..., dim]
  at::Tensor inverse_rms;  // fp32 [rows]
};

// Reads residual and update once and writes both results once. Without an
// update, `sum` is the residual itself.
FusedNormResult AddRmsNormCpu(const at::Tensor& residual,
                              const at::Tensor& update,
                              const at::Tensor& weight, double eps,
                              at::ScalarType normed);

struct NormGradients {
  at::Tensor residual;  // R [..., dim]
  at::Tensor update;    // E; the same tensor as residual if E is R
  at::Tensor weight;    // R [dim]
};

// The gradient of `sum` may be undefined. The gradient of the weight is summed
// in the same order for any number of threads.
NormGradients AddRmsNormBackwardCpu(const at::Tensor& sum_gradient,
                                    const at::Tensor& normed_gradient,
                                    const at::Tensor& sum,
                                    const at::Tensor& inverse_rms,
                                    const at::Tensor& weight, bool has_update);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_RMS_NORM_H_
