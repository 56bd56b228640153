// SPDX-License-Identifier: MIT
// The CPU kernels of model/fused/swiglu.h, on contiguous tensors.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_SWIGLU_H_
#define TRAINBENCH_MODEL_FUSED_CPU_SWIGLU_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// gate_value [..., 2 d_ff] -> silu(gate) * value [..., d_ff].
at::Tensor SwigluCpu(const at::Tensor& gate_value);

// The gradient of gate_value, given the gradient of the result.
at::Tensor SwigluBackwardCpu(const at::Tensor& gradient,
                             const at::Tensor& gate_value);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_SWIGLU_H_
