// SPDX-License-Identifier: MIT
// Finds the memory that operations access, if memory is watched.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_LOCATE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_LOCATE_H_

#include <cstddef>

#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Returns all arguments that look like pointers, as if the kernel wrote there.
Accesses AccessesOf(const Kernel& kernel, void** arguments);

// Finds the memory of an operation that is being enqueued or recorded. Drops
// addresses without device memory, or with free memory: kernel arguments may
// contain old pointers that are never read. Requires StreamMutex().
void LocateAccesses(Operation& operation);

// The allocations of LibTorch's caching allocator, which divides memory from
// cudaMalloc; without them, each cudaMalloc is a block. Lock StreamMutex().
void AddBlock(const char* begin, size_t bytes);
void RemoveBlock(const char* begin);

// Makes LibTorch's caching allocator, once there is one, report its blocks. For
// the functions that allocate device memory.
void WatchCachingAllocator();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_LOCATE_H_
