// SPDX-License-Identifier: MIT
// Distributes work on rows over LibTorch's threads.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_
#define TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace trainbench {

// Calls work(first, end) for parts of 0 .. rows in parallel, on up to
// at::get_num_threads() threads. A part has about 16,384 elements or more, so
// that a thread pays off.
void ForRows(int64_t rows, int64_t elements_per_row,
             const std::function<void(int64_t first, int64_t end)>& work);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_
