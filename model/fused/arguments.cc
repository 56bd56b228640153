// SPDX-License-Identifier: MIT

#include "model/fused/arguments.h"

#include <ATen/SequenceNumber.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

namespace trainbench {

at::ScalarType ProductType(at::ScalarType dtype, at::Device device) {
  return at::autocast::is_autocast_enabled(device.type())
             ? at::autocast::get_autocast_dtype(device.type())
             : dtype;
}

at::Tensor WithRows(const at::Tensor& x) {
  return x.stride(-1) == 1 ? x : x.contiguous();
}

double BytesOf(std::initializer_list<at::Tensor> tensors) {
  double bytes = 0;
  for (const at::Tensor& x : tensors) {
    if (x.defined()) bytes += static_cast<double>(x.nbytes());
  }
  return bytes;
}

void RefuseSecondDerivative(const char* operation) {
  // create_graph enables gradients in the backward pass.
  TORCH_CHECK(!at::GradMode::is_enabled(), "the fused ", operation,
              " has no second derivative; allowed: a backward pass without "
              "create_graph");
}

ProfiledOperator::ProfiledOperator(const char* name,
                                   const std::vector<c10::IValue>& inputs)
    : record_(at::RecordScope::FUNCTION) {
  if (!record_.isActive()) return;
  record_.before(name, &inputs,
                 static_cast<int64_t>(at::sequence_number::peek()));
}

}  // namespace trainbench
