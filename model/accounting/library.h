// SPDX-License-Identifier: MIT
// Upper bounds of memory that a dry run does not see, because it is not in
// tensors and depends on the processor. Not part of predicted peaks.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_

#include <cstdint>

namespace trainbench {

// The most bytes that oneDNN allocates, with the tensors' allocator, for a
// product with this many result elements. With bf16 instructions, each thread
// keeps tiles of operands and result, as large as its cache. With only AVX-512,
// the whole result is summed in fp32. The largest int64_t on overflow. MKL,
// which computes most fp32 products, has its own allocator.
int64_t OneDnnBytesBound(int64_t result_elements, int threads);

// cuBLAS keeps one workspace for the thread of the forward pass and one for the
// thread of the backward pass.
inline constexpr int64_t kCublasWorkspaces = int64_t{2} * 32 << 20;

// Bytes that a GPU's kernels may allocate when they are first used, and the
// buffer that flushes its cache.
inline constexpr int64_t kKernelBytes = int64_t{1} << 29;

// Bytes that LibTorch's caching allocator reserves on a GPU for `block_bytes`
// in tensors and workspaces: 3 % more, or two pages if 3 % is less, for
// fragmentation and partly used pages. Fragmentation has no formula: steps with
// blocks of many sizes can waste up to 10 %. tools/rehearse counts it.
int64_t ReservedBytes(int64_t block_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
