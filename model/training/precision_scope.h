// SPDX-License-Identifier: MIT
// Switches to a precision's arithmetic, as RAII: every exit path restores the
// previous state, exceptions included.

#ifndef TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_
#define TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_

#include <ATen/Context.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "model/spec/precision.h"

namespace trainbench {

// Sets how fp32 matmuls are computed, on CUDA and in oneDNN: TF32 for kTf32,
// IEEE otherwise. The setting is process-wide: do not overlap two scopes of
// different precision in different threads.
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

// Turns autocast on or off on this thread. Wrap the forward pass and the loss
// in it, never the backward pass, which repeats the dtypes of the forward pass,
// or the optimizer. Leaving the outermost scope drops the cached 16-bit copies
// of the weights, which would otherwise outlive a weight update.
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
