// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/blocks.h"

#include <iterator>

#include "tools/null_gpu/core/memory.h"

namespace null_gpu {
namespace {

bool LocateIn(const char* begin, size_t bytes, Access& access) {
  const char* const end = begin + bytes;
  if (access.begin < begin || access.begin >= end) return false;
  if (access.bytes == 0) access.bytes = end - access.begin;
  return true;
}

}  // namespace

bool Blocks::Locate(Access& access) const {
  const auto after = blocks_.upper_bound(access.begin);
  if (after != blocks_.begin()) {
    const auto& [begin, block] = *std::prev(after);
    if (LocateIn(begin, block.bytes, access)) {
      access.block = block.id;
      return true;
    }
  }
  const bool divided = last_id_ > 0;
  if (divided && access.bytes == 0) return false;
  const auto range = GetMemory().Find(access.begin);
  return range && LocateIn(range->base, range->wanted, access);
}

Blocks& GetBlocks() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

}  // namespace null_gpu
