// SPDX-License-Identifier: MIT
// Which arithmetic a step uses, as RAII: every state is restored on every exit
// path, exceptions included.

#ifndef TRAINBENCH_MODEL_PRECISION_H_
#define TRAINBENCH_MODEL_PRECISION_H_

#include <ATen/Context.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class Precision {
  kFp32,          // IEEE fp32 everywhere: TF32 is off
  kTf32,          // fp32 storage, CUDA matmuls may round inputs to TF32
  kBf16Autocast,  // fp32 weights, matmuls cast to bf16 in the forward pass
  kBf16,          // bf16 weights, activations, gradients and optimizer state
};

inline constexpr std::array<Precision, 4> kPrecisions = {
    Precision::kFp32, Precision::kTf32, Precision::kBf16Autocast,
    Precision::kBf16};

// "fp32", "tf32", "bf16_autocast", "bf16".
absl::string_view PrecisionName(Precision precision);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<Precision> ParsePrecision(absl::string_view name);

// The dtype in which parameters are stored.
c10::ScalarType WeightType(Precision precision);

// How a dtype is written in names and labels: "fp64", "fp32", "fp16", "bf16",
// or LibTorch's own name for any other.
absl::string_view DtypeName(c10::ScalarType dtype);

// Of one number, e.g. 16.
int BitsOf(c10::ScalarType dtype);

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
// in it, never the backward pass (which repeats the dtypes of the forward) or
// the optimizer. Leaving the outermost scope drops the cached narrow copies of
// the weights, which would otherwise outlive a weight update.
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

#endif  // TRAINBENCH_MODEL_PRECISION_H_
