// SPDX-License-Identifier: MIT
// Rotary position embedding (Su et al. 2021).

#ifndef TRAINBENCH_MODEL_KERNELS_ROPE_H_
#define TRAINBENCH_MODEL_KERNELS_ROPE_H_

#include <cstdint>

#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"

namespace trainbench::kernels {

// Rotates channels (2i, 2i+1) of position t by the angle with cosine and sine
// [t, i] in the tables, or by the negative angle, which is the backward pass.
// `to` may be `from`. d_head is even.
struct RopeArgs {
  Dtype dtype;
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
  bool backward;
  const float* cos;  // [seq, d_head / 2]
  const float* sin;
  const void* from;
  void* to;
  HeadStrides from_strides;
  HeadStrides to_strides;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_ROPE_H_
