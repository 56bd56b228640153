// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_SWIGLU_H_
#define TRAINBENCH_MODEL_FUSED_SWIGLU_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// silu(gate) * value (Shazeer 2020) [..., d_ff] from concatenated gate and
// value [..., 2 d_ff], in one pass, computed in fp32. Saves only its input: the
// backward pass recomputes silu.
at::Tensor Swiglu(const at::Tensor& gate_value);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_SWIGLU_H_
