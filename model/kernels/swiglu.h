// SPDX-License-Identifier: MIT
// SwiGLU (Shazeer 2020): y = silu(gate) up with silu(x) = x / (1 + exp(-x)).

#ifndef TRAINBENCH_MODEL_KERNELS_SWIGLU_H_
#define TRAINBENCH_MODEL_KERNELS_SWIGLU_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// Tensors [rows, columns] of one type. gate and up may be the halves of one
// product: their rows lie `input_stride` elements apart, those of y `columns`.
// A multiple of 16 bytes for both is fast.
struct SwigluForwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  int64_t input_stride;
  const void* gate;
  const void* up;
  void* y;
};

// Computes silu(gate) again. The gradients of gate and up lie `input_stride`
// apart, as gate and up do, and may be written over them.
struct SwigluBackwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  int64_t input_stride;
  const void* gate;
  const void* up;
  const void* grad_y;
  void* grad_gate;
  void* grad_up;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_SWIGLU_H_
