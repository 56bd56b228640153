// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/flat_buffer.h"

#include <torch/types.h>

namespace trainbench {

FlatBuffer MakeFlatBuffer(const std::vector<at::Tensor>& tensors,
                          int64_t multiple) {
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
  buffer.values = at::empty({padded}, first.options().requires_grad(false));
  buffer.values.narrow(0, elements, padded - elements).zero_();
  int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    buffer.views.push_back(
        buffer.values.narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
  return buffer;
}

}  // namespace trainbench
