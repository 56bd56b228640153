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

// Reads residual and update once and writes the results into `to` once. Without
// an update, which is undefined, `to.sum` is the residual itself.
void AddRmsNormCpu(const at::Tensor& residual, const at::Tensor& update,
                   const at::Tensor& weight, double eps,
                   const FusedNormResult& to);

struct NormGradients {
  at::Tensor residual;  // R [..., dim]
  // E [..., dim]; undefined without an update, or if it equals `residual`, as
  // it does if E is R.
  at::Tensor update;
  at::Tensor weight;  // R [dim]
};

// Writes into the tensors of `to` that are defined, and sets `to.weight`. The
// gradient of `sum` may be undefined. The gradient of the weight is summed in
// the same order for any number of threads.
void AddRmsNormBackwardCpu(const at::Tensor& sum_gradient,
                           const at::Tensor& normed_gradient,
                           const at::Tensor& sum, const at::Tensor& inverse_rms,
                           const at::Tensor& weight, NormGradients& to);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_RMS_NORM_H_
