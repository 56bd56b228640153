// SPDX-License-Identifier: MIT
// Memory that matrix libraries take for themselves from the allocator of the
// tensors. It depends on the processor, so it is bounded here, not predicted;
// predicted peaks leave it out.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_

#include <cstdint>

#include "model/spec/precision.h"

namespace trainbench {

struct LibraryQuery {
  bool on_cpu = true;
  Precision precision = Precision::kFp32;
  int threads = 1;              // of the CPU
  bool fp32_by_onednn = false;  // as fused products on some CPUs
  // Most result elements of products that run at once.
  int64_t result_elements = 0;
};

// An upper bound on these bytes:
// - CPU, fp32: none, since MKL has its own allocator.
// - CPU, bf16 or autocast, and fp32 by oneDNN: oneDNN. With bf16 instructions
// each thread keeps
//   tiles of operands and result, as large as its cache. With AVX-512 alone the
//   whole result is summed in fp32. Without AVX-512 oneDNN is not used.
// - GPU: cuBLAS keeps a workspace for the thread of the forward pass and
//   another for the thread of the backward pass.
int64_t LibraryBytesBound(const LibraryQuery& query);

// What a GPU's kernels may still take when they are first used, and the buffer
// that empties its cache.
inline constexpr int64_t kKernelBytes = int64_t{1} << 29;

// What LibTorch's caching allocator takes from a GPU for `block_bytes` in
// tensors and workspaces: 3 % or two pages more, for holes between blocks and
// pages in part used. No formula knows the holes: steps whose blocks have many
// sizes can leave up to 10 % (tests/null_gpu lists them). tools/rehearse counts
// them.
int64_t ReservedBytes(int64_t block_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
