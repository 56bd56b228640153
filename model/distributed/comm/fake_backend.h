// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

namespace trainbench {

// Has no other ranks: sends nothing, does not wait and leaves all values
// unchanged. Calls that this project does not make throw c10d's c10::Error.
class FakeBackend : public c10d::Backend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

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

 private:
  // Returns work that is complete.
  static WorkPtr Done(std::vector<at::Tensor> tensors) {
    const auto future = c10::make_intrusive<c10::ivalue::Future>(
        c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(std::move(tensors)));
    return c10d::Work::create_from_future(future);
  }
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
