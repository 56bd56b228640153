// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <utility>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/ddp/sync_base.h"

namespace trainbench {
namespace {

class PerParameterSync final : public SyncBase {
 public:
  using SyncBase::SyncBase;

  void Finish() override {
    const at::NoGradGuard no_grad;
    RequireGradients();
    for (const at::Tensor& parameter : parameters()) {
      StartAllReduce(parameter.mutable_grad().mul_(share()))->Wait();
    }
    EndStep();
  }
};

}  // namespace

std::unique_ptr<GradientSync> MakePerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group) {
  return std::make_unique<PerParameterSync>(std::move(parameters), group);
}

}  // namespace trainbench
