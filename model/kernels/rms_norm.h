// SPDX-License-Identifier: MIT
// RMSNorm (Zhang & Sennrich 2019) of a residual stream, after the addition of a
// sublayer's update.

#ifndef TRAINBENCH_MODEL_KERNELS_RMS_NORM_H_
#define TRAINBENCH_MODEL_KERNELS_RMS_NORM_H_

#include <cstdint>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// The residual stream and the weights have the type `stream`; inputs and
// outputs of a sublayer have the type `branch`. Under autocast they are fp32
// and bf16, else equal. Tensors are contiguous [rows, columns] with at most
// kRmsNormMaxColumns columns. Fast if columns are a multiple of 8.
inline constexpr int64_t kRmsNormMaxColumns = 8192;

// s = x + update, y = weight * s / sqrt(mean(s^2) + epsilon), computed in fp32
// from the rounded s.
struct RmsNormForwardArgs {
  Dtype stream;
  Dtype branch;
  int64_t rows;
  int64_t columns;
  float epsilon;
  const void* x;       // stream
  const void* update;  // branch, or null: s is x
  const void* weight;  // stream [columns]
  void* sum;           // stream, s; null without an update
  void* y;             // branch
  float* inverse_rms;  // [rows], 1 / sqrt(mean(s^2) + epsilon)
};

// dx = grad_sum + r (weight dy - n mean(weight dy n)) with r = inverse_rms and
// n = r s; grad_weight = the sum of dy n over the rows.
struct RmsNormBackwardArgs {
  Dtype stream;
  Dtype branch;
  int64_t rows;
  int64_t columns;
  const void* sum;           // stream, s of the forward pass
  const void* weight;        // stream [columns]
  const float* inverse_rms;  // [rows]
  const void* grad_y;        // branch
  const void* grad_sum;      // stream, gradient of s from later layers, or null
  void* grad_x;              // stream
  void* grad_update;         // branch, grad_x rounded; null if types are equal
  void* grad_weight;         // stream [columns]
  float* partial;            // scratch [RmsNormPartials(rows), columns]
};

// Each block sums the gradients of its rows, and a second kernel sums over the
// blocks, so that each run adds in the same order.
TRAINBENCH_HOST_DEVICE int64_t RmsNormPartials(int64_t rows) {
  return rows < 528 ? rows : 528;
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_RMS_NORM_H_
