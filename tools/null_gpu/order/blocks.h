// SPDX-License-Identifier: MIT
// Where allocations begin and end.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "tools/null_gpu/order/access.h"

namespace null_gpu {

// Allocations of LibTorch's caching allocator (allocator.cc), which divides
// what cudaMalloc gives it; where it is not at work, those of cudaMalloc.
class Blocks {
 public:
  void Add(const char* begin, size_t bytes) {
    blocks_[begin] = {bytes, ++last_id_};
  }
  void Remove(const char* begin) { blocks_.erase(begin); }

  // Fills in the block, and the bytes up to its end where they are 0. False
  // where no memory of a device is, or it is nobody's now: arguments of kernels
  // hold old pointers that nobody reads.
  bool Locate(Access& access) const;

 private:
  struct Block {
    size_t bytes;
    uint64_t id;
  };
  std::map<const char*, Block> blocks_;
  uint64_t last_id_ = 0;
};

// It wants StreamMutex() held.
Blocks& GetBlocks();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_BLOCKS_H_
