// SPDX-License-Identifier: MIT
// Runs kernels that compute each row independently, for each dtype.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_
#define TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_

#include <c10/util/BFloat16.h>

#include <cstdint>

#include "model/fused/cpu/parallel.h"
#include "model/fused/cpu/simd.h"
#include "model/kernels/device.h"

namespace trainbench {

// Calls f with a value of the dtype's element type, float or c10::BFloat16.
template <typename F>
void WithElements(kernels::Dtype dtype, F f) {
  if (dtype == kernels::Dtype::kFloat32) return f(float());
  f(c10::BFloat16());
}

template <typename Kernel>
struct RowLoop {
  template <typename V>
  TRAINBENCH_SIMD static void Run(const Kernel& kernel, int64_t first,
                                  int64_t end) {
    for (int64_t row = first; row < end; ++row) kernel.template Run<V>(row);
  }
};

// Calls kernel.Run<V>(row), a TRAINBENCH_SIMD function, for each row,
// distributed by ForRows, with vectors V of the width in use.
template <typename Kernel>
void RunRows(const Kernel& kernel, int64_t rows, int64_t elements_per_row) {
  ForRows(rows, elements_per_row, [&](int64_t first, int64_t end) {
    simd::Run<RowLoop<Kernel>>(kernel, first, end);
  });
}

// Runs Kernel<T>{args} for the element type T of `args.dtype`.
template <template <typename> typename Kernel, typename Args>
void RunRowsOf(const Args& args, int64_t rows, int64_t elements_per_row) {
  WithElements(args.dtype, [&](auto element) {
    RunRows(Kernel<decltype(element)>{args}, rows, elements_per_row);
  });
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_
