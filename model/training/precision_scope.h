// SPDX-License-Identifier: MIT
// Sets the arithmetic of a precision, as RAII: every exit path, including
// exceptions, restores the previous state.

#ifndef TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_
#define TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_

#include <ATen/Context.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "model/spec/precision.h"

namespace trainbench {

// Sets how fp32 matmuls are computed: on CUDA in TF32 for kTf32 and in IEEE
// fp32 otherwise, in oneDNN always in IEEE fp32. The setting is process-wide:
// do not overlap two scopes of different precision in different threads.
class MatmulScope {
 public:
  explicit MatmulScope(Precision precision);
  ~MatmulScope();
  MatmulScope(const MatmulScope&) = delete;
  MatmulScope& operator=(const MatmulScope&) = delete;

 private:
  at::Float32Precision saved_cuda_;
  at::Float32Precision saved_mkldnn_;
};

// Turns autocast on or off on this thread. Wrap only the forward pass and the
// loss in it: the backward pass reuses their dtypes, and the optimizer must not
// run under autocast. Leaving the outermost scope clears the cached 16-bit
// copies of the weights, which would otherwise be stale after a weight update.
class AutocastScope {
 public:
  // On in bf16 for kBf16Autocast, off otherwise.
  AutocastScope(Precision precision, c10::DeviceType device);
  // On in `dtype`: fp16 or bf16.
  AutocastScope(c10::ScalarType dtype, c10::DeviceType device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  AutocastScope(bool enabled, c10::ScalarType dtype, c10::DeviceType device);

  c10::DeviceType device_;
  bool saved_enabled_;
  bool saved_cache_enabled_;
  c10::ScalarType saved_dtype_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_
