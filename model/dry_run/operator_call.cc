// SPDX-License-Identifier: MIT

#include "model/dry_run/operator_call.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <optional>

#include "model/dry_run/storage.h"

namespace trainbench::dry {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::IValue;

// Calls `visit` with each tensor in a value, and replaces it by the result.
template <typename Visit>
void ReplaceTensors(IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) value = visit(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<Tensor> list;
    for (const Tensor& x : value.toTensorVector()) list.push_back(visit(x));
    value = std::move(list);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<Tensor>> list;
    for (const auto& x : value.toOptionalTensorVector()) {
      list.push_back(x ? std::optional(visit(*x)) : std::nullopt);
    }
    value = std::move(list);
  }
}

int64_t StoredBytes(const Tensor& x) {
  if (x.unsafeGetTensorImpl()->is_wrapped_number()) return 0;
  return static_cast<int64_t>(std::min(x.nbytes(), x.storage().nbytes()));
}

}  // namespace

OperatorCall::OperatorCall(const c10::OperatorHandle& op,
                           torch::jit::Stack* stack)
    : op_(op),
      facts_(FactsOf(op)),
      stack_(stack),
      count_(facts_.arguments.size()) {
  for (std::size_t i = 0; i < count_; ++i) Read(Argument(i));
  makes_int32_ = facts_.dtype && Argument(*facts_.dtype).isInt() &&
                 Argument(*facts_.dtype).toScalarType() == at::kInt;
}

void OperatorCall::Read(const Tensor& x) {
  if (!x.defined()) return;
  ++tensors_;
  if (!dry::IsDry(x)) return;
  ++dry_;
  if (x.is_cuda()) device_ = x.device();
}

void OperatorCall::Read(const IValue& value) {
  if (value.isTensor()) {
    Read(value.toTensor());
  } else if (value.isTensorList()) {
    for (const Tensor& x : value.toTensorVector()) Read(x);
  } else if (value.isOptionalTensorList()) {
    for (const auto& x : value.toOptionalTensorVector()) {
      if (x) Read(*x);
    }
  } else if (value.isDevice()) {
    device_ = value.toDevice();
    if (device_.is_cuda() && !device_.has_index()) device_.set_index(0);
    names_device_ = true;
  }
}

int64_t OperatorCall::bytes() const {
  const int64_t made = written_bytes_ + born_bytes_;
  if (made == 0 || facts_.makes_no_values) return 0;
  return read_bytes_ + made + (facts_.picks_values ? born_bytes_ : 0);
}

// 32-bit integers that are created on a CPU are real: c10d's Reducer stores in
// them which gradient is in which bucket, and reads them.
bool OperatorCall::IsDry() const {
  const bool is_real = tensors_ == 0 && makes_int32_ && device_.is_cpu();
  return dry_ > 0 || (!is_real && (names_device_ || tensors_ == 0));
}

// On a CPU, elementwise operators first copy operands that do not have the
// dtype of the computation (at::TensorIterator, compute_types).
std::vector<Tensor> OperatorCall::CastOperands() {
  std::vector<Tensor> casts;
  if (IsStated() || !device_.is_cpu() || !facts_.is_pointwise) {
    return casts;
  }
  std::vector<Tensor> operands;
  at::native::ResultTypeState state;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!Argument(i).isTensor() || !Argument(i).toTensor().defined()) continue;
    operands.push_back(Argument(i).toTensor());
    state = at::native::update_result_type_state(operands.back(), state);
  }
  const at::ScalarType type = at::native::result_type(state);
  for (const Tensor& x : operands) {
    if (x.scalar_type() != type) casts.push_back(x.to(type));
  }
  return casts;
}

KernelWork OperatorCall::RunOnMeta() {
  const c10::impl::ExcludeDispatchKeyGuard dry_off(DispatchKey::Fake);
  const at::AutoDispatchBelowADInplaceOrView below;
  if (IsStated()) return OnDevice().stated(*stack_);
  TORCH_CHECK(
      op_.hasKernelForDispatchKey(DispatchKey::Meta) ||
          op_.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
          op_.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd),
      op_.operator_name(), " on ", device_,
      " cannot run dry: LibTorch has no meta kernel of it, and "
      "model/dry_run/operators.cc does not state it");
  const KernelWork work = ProductOf(op_, *stack_);
  op_.redispatchBoxed(c10::DispatchKeySet(DispatchKey::Meta), stack_);
  return work;
}

KernelWork OperatorCall::Run() {
  const std::vector<Tensor> casts = CastOperands();
  for (std::size_t i = 0; i < count_; ++i) {
    const OperatorFacts::Access access = facts_.arguments[i];
    ReplaceTensors(Argument(i), [&](const Tensor& x) {
      if (access.reads) read_bytes_ += StoredBytes(x);
      if (access.writes) written_bytes_ += StoredBytes(x);
      return ToMeta(x);
    });
    if (Argument(i).isDevice()) Argument(i) = c10::Device(c10::kMeta);
  }
  const KernelWork kernel = RunOnMeta();
  for (const auto& [tensor, meta] : known_) {
    if (dry::IsDry(tensor)) Resize(tensor, meta);
  }
  for (IValue& result : *stack_) {
    ReplaceTensors(result, [&](const Tensor& x) { return ToDry(x); });
  }
  if (kernel.scratch_bytes > 0) {
    at::empty({kernel.scratch_bytes}, at::device(device_).dtype(at::kByte));
  }
  return kernel;
}

Tensor OperatorCall::ToMeta(const Tensor& x) {
  known_.emplace_back(x, MetaOf(x));
  return known_.back().second;
}

Tensor OperatorCall::ToDry(const Tensor& meta) {
  if (dry::IsDry(meta)) return meta;
  for (const auto& [tensor, known] : known_) {
    if (known.is_same(meta)) return tensor;
  }
  for (const auto& [tensor, known] : known_) {
    if (known.storage().is_alias_of(meta.storage())) {
      return In(tensor.storage(), KeyOf(tensor.device()), meta);
    }
  }
  born_bytes_ += StoredBytes(meta);
  known_.emplace_back(NewLike(meta, device_), meta);
  return known_.back().first;
}

}  // namespace trainbench::dry
