// SPDX-License-Identifier: MIT

#include "model/dry_run/dry_run.h"

#include <c10/core/AutogradState.h>
#include <torch/library.h>

#include <utility>

#include "model/dry_run/operator_call.h"
#include "model/dry_run/storage.h"

namespace trainbench {
namespace {

using c10::DispatchKey;

// The innermost dry run of this thread.
thread_local DryRun* current = nullptr;

// The fallback of Fake, below autograd and autocast and above the backends.
void RunDry(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
            torch::jit::Stack* stack) {
  dry::OperatorCall call(op, stack);
  if (!call.IsDry()) {
    const c10::impl::ExcludeDispatchKeyGuard dry_off(DispatchKey::Fake);
    op.redispatchBoxed(
        keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER,
                                   DispatchKey::Fake),
        stack);
  } else if (!call.IsStated() && call.IsComposite()) {
    const DispatchKey device = dry::KeyOf(call.device());
    op.redispatchBoxed(c10::DispatchKeySet(device), stack);
  } else {
    const dry::KernelWork work = call.Run();
    DryRun::Record({.name = op.schema().name(),
                    .flops = work.flops,
                    .bytes = static_cast<double>(call.bytes()),
                    .by_onednn = work.in_bf16 && call.device().is_cpu(),
                    .result_elements = work.result_elements});
  }
}

}  // namespace

DryRun::DryRun(OperatorListener on_operator)
    : guard_(DispatchKey::Fake),
      had_threads_(
          c10::AutogradState::get_tls_state().get_multithreading_enabled()),
      on_operator_(std::move(on_operator)),
      outer_(std::exchange(current, this)) {
  // Otherwise autograd would start a thread for a GPU.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

DryRun::~DryRun() {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(had_threads_);
  current = outer_;
}

bool DryRun::IsOn() {
  return c10::impl::tls_is_dispatch_key_included(DispatchKey::Fake) &&
         !c10::impl::tls_is_dispatch_key_excluded(DispatchKey::Fake);
}

void DryRun::Record(const DryOperator& op) {
  if (current != nullptr && current->on_operator_) current->on_operator_(op);
}

}  // namespace trainbench

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(
      torch::CppFunction::makeFromBoxedFunction<&trainbench::RunDry>());
}
