// SPDX-License-Identifier: MIT
// Kernels that compute each row independently.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_
#define TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_

#include <cstdint>

#include "model/fused/cpu/parallel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {

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

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_ROW_KERNEL_H_
