// SPDX-License-Identifier: MIT
// Many tensors in one.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace trainbench {

struct FlatBuffer {
  at::Tensor values;              // [elements], of the tensors' dtype
  std::vector<at::Tensor> views;  // of each tensor's shape, one after another
};

// Room for `tensors`, not their values, rounded up to a multiple of `multiple`
// elements; the rest, if any, is zero. Throws c10::Error unless they have one
// dtype and device.
FlatBuffer MakeFlatBuffer(const std::vector<at::Tensor>& tensors,
                          int64_t multiple = 1);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_
