// SPDX-License-Identifier: MIT
// Only this file is compiled with OpenMP, as LibTorch is. Without OpenMP,
// parallel_for is a loop on one thread.

#include "model/fused/cpu/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "model/dry_run/dry_run.h"

namespace trainbench {

void ForRows(int64_t rows, int64_t elements_per_row,
             const std::function<void(int64_t first, int64_t end)>& work) {
  if (DryRun::IsOn()) return;
  constexpr int64_t kElements = 1 << 14;
  const int64_t grain =
      std::max<int64_t>(1, kElements / std::max<int64_t>(1, elements_per_row));
  // A lambda, because it has a unique type: parallel_for is a template, and for
  // the same type a linker may keep another file's instance, without OpenMP.
  at::parallel_for(0, rows, grain,
                   [&](int64_t first, int64_t end) { work(first, end); });
}

}  // namespace trainbench
