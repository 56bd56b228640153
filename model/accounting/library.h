// SPDX-License-Identifier: MIT
// What the libraries that multiply matrices take for themselves, from the same
// allocator as tensors. How much depends on the processor, so it is bounded
// here, not predicted; the peaks of accounting/ leave it out.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_

#include <cstdint>

#include "model/spec/precision.h"

namespace trainbench {

struct LibraryQuery {
  bool on_cpu = true;
  Precision precision = Precision::kFp32;
  int threads = 1;  // of the CPU
  // Elements of the results of all products that run at once, at most.
  int64_t result_elements = 0;
};

// CPU, fp32: nothing, as MKL has an allocator of its own.
// CPU, bf16 or autocast: oneDNN. With bf16 instructions each thread keeps tiles
// of the
//   operands and of the result, as large as its cache. Without them (AVX-512)
//   the whole result is summed in fp32. Without AVX-512 it is not used.
// GPU: cuBLAS keeps a workspace for the thread of the forward and for that of
//   the backward pass.
int64_t LibraryBytesBound(const LibraryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LIBRARY_H_
