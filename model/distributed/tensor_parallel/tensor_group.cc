// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_group.h"

#include <torch/types.h>

#include <cstdint>

namespace trainbench {

bool TensorGroup::Counts(const at::Tensor& tensor) {
  if (!sends_ || group_.size() == 1) return false;
  ++traffic_.calls;
  traffic_.bytes += static_cast<int64_t>(tensor.nbytes());
  return true;
}

void TensorGroup::Sum(const at::Tensor& tensor) {
  if (Counts(tensor)) group_.AllReduce(tensor);
}

void TensorGroup::Max(const at::Tensor& tensor) {
  if (Counts(tensor)) group_.AllReduceMax(tensor);
}

}  // namespace trainbench
