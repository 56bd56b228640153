// SPDX-License-Identifier: MIT

#include "model/fused/cpu/simd.h"

#include <ATen/Version.h>

namespace trainbench::simd {

int WidthInUse() {
  static const int width = [] {
    const std::string capability = at::get_cpu_capability();
    if (capability == "AVX512") return 64;
    if (capability == "AVX2") return 32;
    return 16;
  }();
  return width;
}

}  // namespace trainbench::simd
