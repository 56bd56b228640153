// SPDX-License-Identifier: MIT

#include "model/precision.h"

#include <ATen/autocast_mode.h>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

Float32Precision Get(Float32Backend backend) {
  return at::globalContext().float32Precision(backend, Float32Op::MATMUL);
}

void Set(Float32Backend backend, Float32Precision precision) {
  at::globalContext().setFloat32Precision(backend, Float32Op::MATMUL,
                                          precision);
}

}  // namespace

absl::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16Autocast:
      return "bf16_autocast";
    case Precision::kBf16:
      return "bf16";
  }
  return "unknown";
}

absl::StatusOr<Precision> ParsePrecision(absl::string_view name) {
  for (Precision precision : kPrecisions) {
    if (name == PrecisionName(precision)) return precision;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "precision is '", name, "'; allowed: fp32, tf32, bf16_autocast, bf16"));
}

c10::ScalarType WeightType(Precision precision) {
  return precision == Precision::kBf16 ? c10::kBFloat16 : c10::kFloat;
}

absl::string_view DtypeName(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kDouble:
      return "fp64";
    case c10::kFloat:
      return "fp32";
    case c10::kHalf:
      return "fp16";
    case c10::kBFloat16:
      return "bf16";
    default:
      return c10::toString(dtype);
  }
}

int BitsOf(c10::ScalarType dtype) {
  return 8 * static_cast<int>(c10::elementSize(dtype));
}

MatmulScope::MatmulScope(Precision precision)
    : saved_cuda_(Get(Float32Backend::CUDA)),
      saved_mkldnn_(Get(Float32Backend::MKLDNN)) {
  Set(Float32Backend::CUDA, precision == Precision::kTf32
                                ? Float32Precision::TF32
                                : Float32Precision::IEEE);
  Set(Float32Backend::MKLDNN, Float32Precision::IEEE);
}

MatmulScope::~MatmulScope() {
  Set(Float32Backend::CUDA, saved_cuda_);
  Set(Float32Backend::MKLDNN, saved_mkldnn_);
}

AutocastScope::AutocastScope(Precision precision, c10::DeviceType device)
    // The dtype is said explicitly, because CUDA's default is fp16.
    : AutocastScope(precision == Precision::kBf16Autocast, at::kBFloat16,
                    device) {}

AutocastScope::AutocastScope(c10::ScalarType dtype, c10::DeviceType device)
    : AutocastScope(true, dtype, device) {}

AutocastScope::AutocastScope(bool enabled, c10::ScalarType dtype,
                             c10::DeviceType device)
    : device_(device),
      saved_enabled_(at::autocast::is_autocast_enabled(device)),
      saved_cache_enabled_(at::autocast::is_autocast_cache_enabled()),
      saved_dtype_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::set_autocast_cache_enabled(true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, saved_enabled_);
  at::autocast::set_autocast_dtype(device_, saved_dtype_);
  at::autocast::set_autocast_cache_enabled(saved_cache_enabled_);
}

}  // namespace trainbench
