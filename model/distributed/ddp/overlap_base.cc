// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/overlap_base.h"

#include <torch/types.h>

#include <utility>

#include "model/distributed/trainer/parallel_trainer.h"

namespace trainbench {

OverlapBase::OverlapBase(std::vector<at::Tensor> parameters,
                         ProcessGroup& group)
    : GradientSync(std::move(parameters), group),
      heard_(this->parameters().size(), false),
      hooks_(this->parameters(), [this](std::size_t i) {
        if (!exchanges()) return;
        TORCH_CHECK(!heard_[i], DescribeParameter(i, this->parameters()[i]),
                    " got a second gradient before Finish() was called");
        heard_[i] = true;
        OnGradient(i);
      }) {}

void OverlapBase::Average() {
  heard_.assign(heard_.size(), false);
  WaitAll();
}

}  // namespace trainbench
