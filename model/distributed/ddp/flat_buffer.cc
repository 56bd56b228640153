// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/flat_buffer.h"

#include <ATen/ScalarOps.h>
#include <torch/types.h>

#include <cstddef>

namespace trainbench {

FlatBuffer MakeFlatBuffer(const std::vector<at::Tensor>& tensors,
                          int64_t multiple,
                          std::optional<c10::ScalarType> dtype) {
  TORCH_CHECK(!tensors.empty(), "a flat buffer of no tensors");
  const at::Tensor& first = tensors.front();
  int64_t elements = 0;
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK(
        tensor.dtype() == first.dtype() && tensor.device() == first.device(),
        "tensors of ", first.dtype(), " on ", first.device(), " and of ",
        tensor.dtype(), " on ", tensor.device(), " do not fit into one buffer");
    elements += tensor.numel();
  }
  const int64_t padded = (elements + multiple - 1) / multiple * multiple;

  FlatBuffer buffer;
  const at::TensorOptions options = first.options().requires_grad(false);
  buffer.values =
      at::empty({padded}, options.dtype(dtype.value_or(first.scalar_type())));
  buffer.values.narrow(0, elements, padded - elements).zero_();
  int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    buffer.views.push_back(
        buffer.values.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
  return buffer;
}

FlatBuffer Flattened(const std::vector<at::Tensor>& tensors, int64_t multiple) {
  const at::NoGradGuard no_grad;
  FlatBuffer buffer = MakeFlatBuffer(tensors, multiple);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    buffer.views[i].copy_(tensors[i]);
  }
  return buffer;
}

void CopyScaled(const at::Tensor& from, double factor, at::Tensor to) {
  if (from.dtype() != to.dtype()) {
    to.copy_(from).mul_(factor);
    return;
  }
  // One pass: the overload for a plain number would create a temporary.
  at::mul_out(to, from, at::native::wrapped_scalar_tensor(factor));
}

}  // namespace trainbench
