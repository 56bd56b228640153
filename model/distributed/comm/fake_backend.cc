// SPDX-License-Identifier: MIT

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <utility>

#include "model/distributed/comm/backends.h"

namespace trainbench {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

// Complete as soon as it is started.
class FakeWork final : public c10d::Work {
 public:
  explicit FakeWork(std::vector<at::Tensor> tensors)
      : future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {
    future_->markCompleted(c10::IValue(std::move(tensors)));
  }

  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

WorkPtr Done(std::vector<at::Tensor> tensors) {
  return c10::make_intrusive<FakeWork>(std::move(tensors));
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
