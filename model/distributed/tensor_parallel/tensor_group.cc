// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_group.h"

namespace trainbench {

void TensorGroup::Sum(const at::Tensor& tensor) {
  if (sends_ && size() > 1) group_.AllReduce(tensor);
}

void TensorGroup::Max(const at::Tensor& tensor) {
  if (sends_ && size() > 1) group_.AllReduceMax(tensor);
}

}  // namespace trainbench
