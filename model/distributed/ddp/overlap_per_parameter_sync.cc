// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <utility>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/ddp/ordered_collectives.h"
#include "model/distributed/ddp/overlap_base.h"

namespace trainbench {
namespace {

class OverlapPerParameterSync final : public OverlapBase {
 public:
  OverlapPerParameterSync(std::vector<at::Tensor> parameters,
                          ProcessGroup& group)
      : OverlapBase(std::move(parameters), group),
        collectives_(this->parameters().size(), [this](std::size_t place) {
          return StartAllReduce(this->parameters()[Mirrored(place)].grad());
        }) {}

 private:
  void OnGradient(std::size_t i) override {
    parameters()[i].mutable_grad().mul_(share());
    collectives_.MarkReady(Mirrored(i));
  }

  void WaitAll() override { collectives_.WaitAll(); }

  // Maps a parameter to its place in the sending order, and back.
  std::size_t Mirrored(std::size_t i) const {
    return parameters().size() - 1 - i;
  }

  OrderedCollectives collectives_;
};

}  // namespace

std::unique_ptr<GradientSync> MakeOverlapPerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group) {
  return std::make_unique<OverlapPerParameterSync>(std::move(parameters),
                                                   group);
}

}  // namespace trainbench
