// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_SWIGLU_H_
#define TRAINBENCH_MODEL_FUSED_SWIGLU_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// silu(gate) * value (Shazeer 2020) [..., d_ff] of gate and value side by side,
// [..., 2 d_ff], in one pass, in fp32 inside. Saves its input alone: the
// backward pass computes the gate again.
at::Tensor Swiglu(const at::Tensor& gate_value);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_SWIGLU_H_
