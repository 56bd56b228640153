// SPDX-License-Identifier: MIT

#include "model/nn/autocast.h"

#include <ATen/autocast_mode.h>

namespace trainbench {
namespace {

void Set(const Autocast& autocast) {
  at::autocast::set_autocast_enabled(autocast.device, autocast.enabled);
  at::autocast::set_autocast_dtype(autocast.device, autocast.dtype);
  at::autocast::set_autocast_cache_enabled(autocast.caches);
}

}  // namespace

Autocast CurrentAutocast(c10::DeviceType device) {
  return {.device = device,
          .enabled = at::autocast::is_autocast_enabled(device),
          .dtype = at::autocast::get_autocast_dtype(device),
          .caches = at::autocast::is_autocast_cache_enabled()};
}

AutocastScope::AutocastScope(const Autocast& autocast)
    : saved_(CurrentAutocast(autocast.device)) {
  Set(autocast);
  at::autocast::increment_nesting();
}

AutocastScope::AutocastScope(Precision precision, c10::DeviceType device)
    // Explicit, because CUDA's default is fp16.
    : AutocastScope({.device = device,
                     .enabled = precision == Precision::kBf16Autocast,
                     .dtype = at::kBFloat16}) {}

AutocastScope::AutocastScope(c10::ScalarType dtype, c10::DeviceType device)
    : AutocastScope({.device = device, .enabled = true, .dtype = dtype}) {}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  Set(saved_);
}

}  // namespace trainbench
