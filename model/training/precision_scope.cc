// SPDX-License-Identifier: MIT

#include "model/training/precision_scope.h"

#include <ATen/autocast_mode.h>

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
    // Explicit, because CUDA's default is fp16.
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
