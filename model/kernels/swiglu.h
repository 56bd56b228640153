// SPDX-License-Identifier: MIT
// SwiGLU (Shazeer 2020): y = silu(gate) up with silu(x) = x / (1 + exp(-x)).

#ifndef TRAINBENCH_MODEL_KERNELS_SWIGLU_H_
#define TRAINBENCH_MODEL_KERNELS_SWIGLU_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// Tensors [rows, columns] of one type. gate and up may be the halves of one
// product: their rows are `input_stride` elements apart, rows of y `columns`.
// Fast if both are multiples of 16 bytes.
struct SwigluForwardArgs {
  Dtype dtype;
  int64_t rows;
  int64_t columns;
  int64_t input_stride;
  const void* gate;
  const void* up;
  void* y;
};

// Recomputes silu(gate). The gradients of gate and up have the row stride
// `input_stride`, as gate and up do, and may overwrite them.
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
