// SPDX-License-Identifier: MIT
// Memory that comes and goes: is the last that touches it known to be over?

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_

#include <driver_types.h>

#include <cstddef>

namespace null_gpu {

// All take StreamMutex().

// If memory is watched, has LibTorch's caching allocator call the next three
// from now on, once there is one. For whoever hands out memory of a device.
void WatchCachingAllocator();

void OrderBlock(const void* begin, size_t bytes);
void OrderBlockEnd(const void* begin);

// Those below do nothing unless order is checked.

// The memory of a block goes to whoever allocates for this stream.
void OrderBlockFree(const void* begin, size_t bytes, int device,
                    cudaStream_t stream);

// cudaFree waits for the device.
void OrderFree(const void* begin, size_t bytes, int device);

// cudaFreeAsync waits for what is on the stream.
void OrderFreeAsync(const void* begin, size_t bytes, cudaStream_t stream);

// cuMemUnmap waits for nothing.
void OrderUnmap(const void* begin, size_t bytes);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_FREE_H_
