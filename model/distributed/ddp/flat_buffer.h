// SPDX-License-Identifier: MIT
// Several tensors in one contiguous buffer.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace trainbench {

struct FlatBuffer {
  at::Tensor values;              // [elements]
  std::vector<at::Tensor> views;  // in the tensors' shapes and order
};

// Allocates a buffer for `tensors` in `dtype`, by default their own, without
// copying their values. Its size is rounded up to a multiple of `multiple`
// elements, and the padding is zero. Throws c10::Error unless the tensors have
// one dtype and device.
FlatBuffer MakeFlatBuffer(const std::vector<at::Tensor>& tensors,
                          int64_t multiple = 1,
                          std::optional<c10::ScalarType> dtype = {});

// The same with the tensors' values.
FlatBuffer Flattened(const std::vector<at::Tensor>& tensors, int64_t multiple);

// Sets `to` to factor * from, in the dtype of `to`.
void CopyScaled(const at::Tensor& from, double factor, at::Tensor to);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_FLAT_BUFFER_H_
