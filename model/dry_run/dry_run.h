// SPDX-License-Identifier: MIT
// Runs model code dry: real modules, autograd and autocast on tensors with a
// device, a dtype, sizes, strides and the size of a storage, but without
// memory. A step's memory and work are thus predicted by running the step.

#ifndef TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_
#define TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace trainbench {

// The work that an operator would do.
struct DryOperator {
  std::string_view name;  // valid as long as the program
  double flops = 0;       // matrix products; a multiply-add counts as two
  // Bytes of the tensors that it reads and of those that it writes, each
  // counted once, without its scratch memory.
  double bytes = 0;
  // Whether oneDNN would multiply, which allocates its own scratch for results;
  // and the number of result elements that it computes at a time.
  bool by_onednn = false;
  int64_t result_elements = 0;
};

using OperatorListener = std::function<void(const DryOperator&)>;

// During its lifetime, operators on this thread compute nothing and new tensors
// have no memory. Allocations and deallocations of their storages are reported
// where LibTorch's allocators report theirs, so AllocationRecorder counts them
// like real ones: on CUDA the requested bytes, before rounding to blocks. Calls
// with only older tensors compute as usual. Tensors may outlive the scope, but
// may only be used in another one. Scopes nest.
//
// c10::Error names an operator if the arguments do not determine its results,
// or if it reads back a value, as item() does, without DryReads.
class DryRun {
 public:
  explicit DryRun(OperatorListener on_operator = nullptr);
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  // Whether a dry run is active on this thread.
  static bool IsOn();

  // For kernels that the dispatcher does not see. Ignored outside a dry run.
  static void Record(const DryOperator& op);

 private:
  const c10::impl::IncludeDispatchKeyGuard guard_;
  const bool had_threads_;
  const OperatorListener on_operator_;
  DryRun* const outer_;
};

// During its lifetime, a dry run on this thread may read values: numbers are 0,
// conditions true, and tensors equal. For code that needs the same memory
// whatever it reads, such as a check of the results.
class DryReads {
 public:
  DryReads() { ++alive_; }
  ~DryReads() { --alive_; }
  DryReads(const DryReads&) = delete;
  DryReads& operator=(const DryReads&) = delete;

  static bool AreAllowed() { return alive_ > 0; }

 private:
  inline static thread_local int alive_ = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DRY_RUN_DRY_RUN_H_
