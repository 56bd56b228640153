// SPDX-License-Identifier: MIT

#include "model/distributed/comm/fake_backend.h"

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <utility>

namespace trainbench {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

// Done as soon as it starts.
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
  FakeBackend(int rank, int size, CollectiveListener on_collective)
      : c10d::Backend(rank, size), on_collective_(std::move(on_collective)) {}

  const std::string getBackendName() const override { return "fake"; }

  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& /*options*/) override {
    for (const at::Tensor& x : tensors) Tell(CollectiveKind::kAllReduce, x);
    return Done(tensors);
  }
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& /*input*/,
                          const c10d::AllgatherOptions& /*options*/) override {
    Tell(CollectiveKind::kAllGather, output);
    return Done({output});
  }
  WorkPtr _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input,
      const c10d::ReduceScatterOptions& /*options*/) override {
    Tell(CollectiveKind::kReduceScatter, input);
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

 private:
  void Tell(CollectiveKind kind, const at::Tensor& whole) const {
    if (!on_collective_ || size_ == 1) return;
    on_collective_(kind, static_cast<int64_t>(whole.nbytes()));
  }

  const CollectiveListener on_collective_;
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeFakeBackend(
    const GroupOptions& options, CollectiveListener on_collective) {
  return c10::make_intrusive<FakeBackend>(options.rank, options.size,
                                          std::move(on_collective));
}

}  // namespace trainbench
