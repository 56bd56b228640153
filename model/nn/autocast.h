// SPDX-License-Identifier: MIT
// LibTorch's autocast, as RAII: every exit path, including exceptions, restores
// the previous state.

#ifndef TRAINBENCH_MODEL_NN_AUTOCAST_H_
#define TRAINBENCH_MODEL_NN_AUTOCAST_H_

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "model/spec/precision.h"

namespace trainbench {

// The state of autocast on a thread.
struct Autocast {
  c10::DeviceType device;
  bool enabled;
  c10::ScalarType dtype;
  bool caches = true;  // reuses 16-bit copies of the weights
};

// Returns the state on this thread.
Autocast CurrentAutocast(c10::DeviceType device);

// Sets autocast on this thread. Wrap only the forward pass and the loss in it:
// the backward pass reuses their dtypes, and the optimizer must not run under
// autocast. Leaving the outermost scope clears the cached 16-bit copies of the
// weights, which would otherwise be stale after a weight update.
class AutocastScope {
 public:
  explicit AutocastScope(const Autocast& autocast);
  // On in bf16 for kBf16Autocast, off otherwise.
  AutocastScope(Precision precision, c10::DeviceType device);
  // On in `dtype`: fp16 or bf16.
  AutocastScope(c10::ScalarType dtype, c10::DeviceType device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  Autocast saved_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_AUTOCAST_H_
