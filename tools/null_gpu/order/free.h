// SPDX-License-Identifier: MIT
// Checks that the accesses to memory are known to have ended when it is freed.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_

#include <driver_types.h>

#include <cstddef>

namespace null_gpu {

// All functions except the first lock StreamMutex().

// If memory is watched, makes LibTorch's caching allocator, once there is one,
// call the next three functions. For the functions that allocate device memory.
void WatchCachingAllocator();

void OrderBlock(const void* begin, size_t bytes);
void OrderBlockEnd(const void* begin);

// The functions below do nothing unless order is checked.

// The memory of a block may now be reused on this stream.
void OrderBlockFree(const void* begin, size_t bytes, int device,
                    cudaStream_t stream);

// cudaFree waits for the device.
void OrderFree(const void* begin, size_t bytes, int device);

// cudaFreeAsync waits for the work on the stream.
void OrderFreeAsync(const void* begin, size_t bytes, cudaStream_t stream);

// cuMemUnmap does not wait.
void OrderUnmap(const void* begin, size_t bytes);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_
