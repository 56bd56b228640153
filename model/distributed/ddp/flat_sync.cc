// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/ddp/sync_base.h"

namespace trainbench {
namespace {

class FlatSync final : public SyncBase {
 public:
  FlatSync(std::vector<at::Tensor> parameters, ProcessGroup& group)
      : SyncBase(std::move(parameters), group),
        buffer_(MakeFlatBuffer(this->parameters())) {}

  void Finish() override {
    const at::NoGradGuard no_grad;
    RequireGradients();
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      CopyShare(parameters()[i].grad(), buffer_.views[i]);
    }
    StartAllReduce(buffer_.values)->Wait();
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      parameters()[i].mutable_grad().copy_(buffer_.views[i]);
    }
    counting().copied_bytes += static_cast<int64_t>(buffer_.values.nbytes());
    EndStep();
  }

 private:
  FlatBuffer buffer_;
};

}  // namespace

std::unique_ptr<GradientSync> MakeFlatSync(std::vector<at::Tensor> parameters,
                                           ProcessGroup& group) {
  return std::make_unique<FlatSync>(std::move(parameters), group);
}

}  // namespace trainbench
