// SPDX-License-Identifier: MIT
// Runs model code dry: real modules, autograd and autocast on tensors that have
// a device, a dtype, sizes, strides and the bytes of a storage, but no memory.
// So a prediction of a step's memory and work is a run of the step.

#ifndef TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_
#define TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <functional>
#include <string>

namespace trainbench {

// What an operator would do.
struct DryOperator {
  std::string name;
  double flops = 0;  // of matrix products, a multiplication and an addition two
  // Of the tensors that it reads and those that it writes, each once. Scratch
  // of its own is in neither.
  double bytes = 0;
  // Whether oneDNN would multiply, which keeps results in scratch of its own;
  // and the elements of the results that it makes at once.
  bool by_onednn = false;
  int64_t result_elements = 0;
};

using OperatorListener = std::function<void(const DryOperator&)>;

// While it exists, operators called on this thread compute nothing and tensors
// made here have no memory. Births and deaths of their storages are reported
// where LibTorch's allocators report theirs, so MemoryAccount and
// AllocationRecorder count them as they count real ones: on CUDA the bytes that
// are requested, before they are rounded to blocks. Calls on older tensors
// alone compute as ever. Tensors may outlive the scope, but only be used in
// another one. Scopes nest.
//
// c10::Error names an operator whose results cannot be told from its
// arguments, and one that reads a value back, as item() does.
class DryRun {
 public:
  explicit DryRun(OperatorListener on_operator = nullptr);
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  // Of this thread.
  static bool IsOn();

  // For kernels that the dispatcher does not know. Ignored if no dry run is on.
  static void Tell(const DryOperator& op);

 private:
  const c10::impl::IncludeDispatchKeyGuard guard_;
  const bool had_threads_;
  const OperatorListener on_operator_;
  DryRun* const outer_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_
