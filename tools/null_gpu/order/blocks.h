// SPDX-License-Identifier: MIT
// The bounds of allocations.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "tools/null_gpu/order/access.h"

namespace null_gpu {

// Allocations of LibTorch's caching allocator (allocator.cc), which divides
// memory from cudaMalloc; if it is not in use, allocations of cudaMalloc.
class Blocks {
 public:
  void Add(const char* begin, size_t bytes) {
    blocks_[begin] = {bytes, ++last_id_};
  }
  void Remove(const char* begin) { blocks_.erase(begin); }

  // Fills in the block, and the bytes up to its end if they are 0. Returns
  // false for an address without device memory, or with free memory: kernel
  // arguments may contain old pointers that are never read.
  bool Locate(Access& access) const;

 private:
  struct Block {
    size_t bytes;
    uint64_t id;
  };
  std::map<const char*, Block> blocks_;
  uint64_t last_id_ = 0;
};

// Requires StreamMutex().
Blocks& GetBlocks();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_
