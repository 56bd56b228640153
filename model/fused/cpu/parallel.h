// SPDX-License-Identifier: MIT
// Work on rows, shared out to LibTorch's threads.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_
#define TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace trainbench {

// Calls work(first, end) for parts of 0 .. rows, at once on as many threads as
// at::get_num_threads() says. A part has at least 16,384 elements, so that it
// is worth a thread.
void ForRows(int64_t rows, int64_t elements_per_row,
             const std::function<void(int64_t first, int64_t end)>& work);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_PARALLEL_H_
