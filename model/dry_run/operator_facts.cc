// SPDX-License-Identifier: MIT

#include "model/dry_run/operator_facts.h"

#include <ATen/core/enum_tag.h>
#include <c10/core/Device.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_map>

namespace trainbench::dry {
namespace {

using c10::DispatchKey;

bool IsOneOf(const c10::OperatorHandle& op,
             std::initializer_list<const char*> names) {
  const std::string& name = op.schema().name();
  return std::any_of(names.begin(), names.end(),
                     [&](const char* one) { return name == one; });
}

bool ReplacesValues(const c10::OperatorHandle& op) {
  return IsOneOf(op, {"aten::copy_", "aten::fill_", "aten::zero_",
                      "aten::normal_", "aten::uniform_", "aten::random_"});
}

bool PicksValues(const c10::OperatorHandle& op) {
  return IsOneOf(op, {"aten::embedding", "aten::gather", "aten::index_select",
                      "aten::nll_loss_forward"});
}

bool MakesNoValues(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::inplace_view) ||
         IsOneOf(op, {"aten::empty", "aten::empty_like", "aten::empty_strided",
                      "aten::new_empty", "aten::new_empty_strided"});
}

// LibTorch composes the operator from others on any device, or it is a
// collective, which its group handles (ProcessGroup::Fake).
bool IsComposite(const c10::OperatorHandle& op, DispatchKey device) {
  const auto has = [&](DispatchKey key) {
    return op.hasKernelForDispatchKey(key);
  };
  if (op.schema().name().starts_with("c10d::")) return true;
  return !has(DispatchKey::Meta) && !has(device) &&
         (has(DispatchKey::CompositeExplicitAutograd) ||
          has(DispatchKey::CompositeExplicitAutogradNonFunctional) ||
          has(DispatchKey::CompositeImplicitAutograd));
}

OperatorFacts LookUp(const c10::OperatorHandle& op) {
  OperatorFacts facts = {.picks_values = PicksValues(op),
                         .makes_no_values = MakesNoValues(op),
                         .is_pointwise = op.hasTag(at::Tag::pointwise),
                         .on_cpu = {FindKernel(op.operator_name(), c10::kCPU),
                                    IsComposite(op, DispatchKey::CPU)},
                         .on_cuda = {FindKernel(op.operator_name(), c10::kCUDA),
                                     IsComposite(op, DispatchKey::CUDA)}};
  for (const c10::Argument& declared : op.schema().arguments()) {
    const std::size_t index = facts.arguments.size();
    if (declared.name() == "dtype") facts.dtype = index;
    // A fused AdamW writes gradients only to unscale them.
    const bool writes = declared.alias_info() &&
                        declared.alias_info()->isWrite() &&
                        declared.name() != "grads";
    const bool reads = writes ? !declared.is_out() && !ReplacesValues(op)
                              : index > 0 || !facts.picks_values;
    facts.arguments.push_back({reads, writes});
  }
  return facts;
}

}  // namespace

const OperatorFacts& FactsOf(const c10::OperatorHandle& op) {
  thread_local std::unordered_map<const void*, OperatorFacts> known;
  const auto found = known.find(&op.schema());
  return found != known.end()
             ? found->second
             : known.emplace(&op.schema(), LookUp(op)).first->second;
}

}  // namespace trainbench::dry
