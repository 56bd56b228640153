// SPDX-License-Identifier: MIT
// The errors of the runtime: names, the last one of a thread, a lost context.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_ERRORS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_ERRORS_H_

#include <driver_types.h>

namespace null_gpu {

// "cudaErrorMemoryAllocation" and "out of memory", as the runtime spells them.
const char* ErrorName(cudaError_t error);
const char* ErrorText(cudaError_t error);

// The last error of the thread, which cudaGetLastError clears.
void SetLastError(cudaError_t error);
cudaError_t TakeLastError();
cudaError_t PeekLastError();

// The error that every call returns since the context was lost, else success.
// Losing one device's context loses all of them: PyTorch cannot go on anyway.
cudaError_t StickyError();
void LoseContext(cudaError_t error);

// For tests: a real process never gets its context back.
void RestoreContext();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_ERRORS_H_
