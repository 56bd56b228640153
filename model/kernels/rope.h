// SPDX-License-Identifier: MIT
// Rotary position embedding (Su et al. 2021) of queries and keys.

#ifndef TRAINBENCH_MODEL_KERNELS_ROPE_H_
#define TRAINBENCH_MODEL_KERNELS_ROPE_H_

#include <cstdint>

#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"

namespace trainbench::kernels {

// Turns the channels (2i, 2i+1) of position t by the angle whose cosine and
// sine are element [t, i] of the tables, or back by it, which is the backward
// pass. `to` may be `from`. d_head is even.
struct RopeArgs {
  Dtype dtype;
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
  bool backward;
  const float* cos;  // [seq, d_head / 2]
  const float* sin;
  const void* from[2];  // queries and keys
  void* to[2];
  HeadStrides from_strides;
  HeadStrides to_strides;
  // 1: of either alone, where they have not as many heads.
  int tensors = 2;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_ROPE_H_
