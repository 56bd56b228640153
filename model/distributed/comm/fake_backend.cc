// SPDX-License-Identifier: MIT

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <utility>

#include "model/distributed/comm/backends.h"

namespace trainbench {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

// Returns work that is complete.
WorkPtr Done(std::vector<at::Tensor> tensors) {
  const auto future = c10::make_intrusive<c10::ivalue::Future>(
      c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(std::move(tensors)));
  return c10d::Work::create_from_future(future);
}

class FakeBackend final : public c10d::Backend {
 public:
  using c10d::Backend::Backend;

  const std::string getBackendName() const override { return "fake"; }

  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& /*options*/) override {
    return Done(tensors);
  }
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& /*input*/,
                          const c10d::AllgatherOptions& /*options*/) override {
    return Done({output});
  }
  WorkPtr _reduce_scatter_base(
      at::Tensor& output, at::Tensor& /*input*/,
      const c10d::ReduceScatterOptions& /*options*/) override {
    return Done({output});
  }
  WorkPtr broadcast(std::vector<at::Tensor>& tensors,
                    const c10d::BroadcastOptions& /*options*/) override {
    return Done(tensors);
  }
  WorkPtr send(std::vector<at::Tensor>& tensors, int /*to*/,
               int /*tag*/) override {
    return Done(tensors);
  }
  WorkPtr recv(std::vector<at::Tensor>& tensors, int /*from*/,
               int /*tag*/) override {
    return Done(tensors);
  }
  WorkPtr barrier(const c10d::BarrierOptions& /*options*/) override {
    return Done({});
  }
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeFakeBackend(const GroupOptions& options) {
  return c10::make_intrusive<FakeBackend>(options.rank, options.size);
}

}  // namespace trainbench
