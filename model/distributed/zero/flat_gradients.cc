// SPDX-License-Identifier: MIT

#include "model/distributed/zero/flat_gradients.h"

#include <utility>

#include "model/accounting/communication.h"

namespace trainbench {

FlatGradients::FlatGradients(std::vector<at::Tensor> parameters,
                             ProcessGroup& group, Reduce reduce)
    : OverlapBase(std::move(parameters), group),
      buffer_(MakeFlatBuffer(this->parameters(), group.size())),
      reduce_(std::move(reduce)) {}

double FlatGradients::AllReducedBytes() const {
  return RingAllReduceBytes(static_cast<double>(buffer_.values.nbytes()),
                            group().size());
}

void FlatGradients::OnGradient(std::size_t index) {
  CopyShare(parameters()[index].grad(), buffer_.views[index]);
  parameters()[index].mutable_grad() = buffer_.views[index];
}

}  // namespace trainbench
