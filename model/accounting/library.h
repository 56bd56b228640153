// SPDX-License-Identifier: MIT
// Memory beside tensors, which no dry run sees: bounds, because it depends on
// the processor. Predicted peaks leave it out.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_

#include <cstdint>

namespace trainbench {

// What oneDNN takes at most, from the allocator of the tensors, for a product
// with so many result elements. With bf16 instructions each thread keeps tiles
// of operands and result, as large as its cache. With AVX-512 alone the whole
// result is summed in fp32. The largest int64_t if 64 bits cannot count it.
// MKL, which multiplies most fp32 matrices, has an allocator of its own.
int64_t OneDnnBytesBound(int64_t result_elements, int threads);

// cuBLAS keeps a workspace for the thread of the forward pass and another for
// the thread of the backward pass.
inline constexpr int64_t kCublasWorkspaces = int64_t{2} * 32 << 20;

// What a GPU's kernels may still take when they are first used, and the buffer
// that empties its cache.
inline constexpr int64_t kKernelBytes = int64_t{1} << 29;

// What LibTorch's caching allocator takes from a GPU for `block_bytes` in
// tensors and workspaces: 3 % or two pages more, for holes between blocks and
// pages in part used. No formula knows the holes: steps whose blocks have many
// sizes can leave up to 10 % (tools/null_gpu lists them). tools/rehearse counts
// them.
int64_t ReservedBytes(int64_t block_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
