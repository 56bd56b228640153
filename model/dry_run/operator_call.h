// SPDX-License-Identifier: MIT
// A call of one operator in a dry run.

#ifndef TRAINBENCH_MODEL_DRY_RUN_OPERATOR_CALL_H_
#define TRAINBENCH_MODEL_DRY_RUN_OPERATOR_CALL_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "model/dry_run/operator_facts.h"
#include "model/dry_run/operators.h"

namespace trainbench::dry {

class OperatorCall {
 public:
  // The arguments are on top of `stack`, which must outlive this object.
  OperatorCall(const c10::OperatorHandle& op, torch::jit::Stack* stack);

  // Whether the call is dry: an argument is, or the result is created without
  // tensor arguments or on a given device.
  bool IsDry() const;
  bool IsStated() const { return OnDevice().stated != nullptr; }
  bool IsComposite() const { return OnDevice().is_composite; }
  // The device of the results.
  c10::Device device() const { return device_; }

  // Replaces the arguments on the stack by dry results.
  KernelWork Run();
  // Bytes read and written. Expanded tensors count with their stored bytes. 0
  // for operators that return a view or uninitialized memory.
  int64_t bytes() const;

 private:
  c10::IValue& Argument(std::size_t i) {
    return (*stack_)[stack_->size() - count_ + i];
  }
  const OperatorFacts::OnDevice& OnDevice() const {
    return device_.is_cuda() ? facts_.on_cuda : facts_.on_cpu;
  }
  void Read(const c10::IValue& value);
  void Read(const at::Tensor& x);
  std::vector<at::Tensor> CastOperands();
  KernelWork RunOnMeta();
  at::Tensor ToMeta(const at::Tensor& x);
  at::Tensor ToDry(const at::Tensor& meta);

  const c10::OperatorHandle& op_;
  const OperatorFacts& facts_;
  torch::jit::Stack* const stack_;
  const std::size_t count_;
  int tensors_ = 0, dry_ = 0;  // among the arguments
  bool names_device_ = false;
  bool makes_int32_ = false;
  c10::Device device_{c10::kCPU};
  int64_t read_bytes_ = 0;
  int64_t written_bytes_ = 0;  // to arguments
  int64_t born_bytes_ = 0;     // in new results
  // Pairs of a tensor and its meta tensor.
  std::vector<std::pair<at::Tensor, at::Tensor>> known_;
};

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_OPERATOR_CALL_H_
