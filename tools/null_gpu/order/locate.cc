// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/locate.h"

#include <cstring>
#include <map>
#include <utility>

#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

struct Blocks {
  struct Block {
    size_t bytes;
    uint64_t id;
  };
  std::map<const char*, Block> by_begin;
  uint64_t last_id = 0;
};

Blocks& GetBlocks() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

bool LocateIn(const char* begin, size_t bytes, Access& access) {
  const char* const end = begin + bytes;
  if (access.begin < begin || access.begin >= end) return false;
  if (access.bytes == 0) access.bytes = end - access.begin;
  return true;
}

// Fills in the block, and the bytes up to its end if they are 0.
bool Locate(Access& access) {
  if (const auto* const last = LastAt(GetBlocks().by_begin, access.begin)) {
    const auto& [begin, block] = *last;
    if (LocateIn(begin, block.bytes, access)) {
      access.block = block.id;
      return true;
    }
  }
  const bool divided = GetBlocks().last_id > 0;
  if (divided && access.bytes == 0) return false;
  const auto range = GetMemory().Find(access.begin);
  return range && LocateIn(range->base, range->wanted, access);
}

void AddCopied(Operation& operation) {
  if (operation.bytes == 0) return;
  operation.accesses.push_back(WriteOf(operation.to, operation.bytes));
  if (operation.kind == Operation::Kind::kFill) return;
  operation.accesses.push_back(ReadOf(operation.from, operation.bytes));
}

}  // namespace

Accesses AccessesOf(const Kernel& kernel, void** arguments) {
  Accesses accesses;
  if (!GetSettings().watches_memory() || arguments == nullptr) return accesses;
  for (const size_t bytes : NeedsOf(&kernel).arguments) {
    const auto* const argument = static_cast<const char*>(*arguments++);
    const char* pointer = nullptr;
    for (size_t at = 0; at + sizeof(pointer) <= bytes; at += sizeof(pointer)) {
      std::memcpy(&pointer, argument + at, sizeof(pointer));
      if (pointer != nullptr) accesses.push_back(WriteOf(pointer));
    }
  }
  return accesses;
}

void LocateAccesses(Operation& operation) {
  if (!GetSettings().watches_memory()) return;
  if (operation.kind == Operation::Kind::kCopy ||
      operation.kind == Operation::Kind::kFill) {
    AddCopied(operation);
  }
  Accesses found;
  for (Access& access : operation.accesses) {
    if (Locate(access)) found.push_back(access);
  }
  operation.accesses = std::move(found);
}

void AddBlock(const char* begin, size_t bytes) {
  const std::lock_guard lock(StreamMutex());
  GetBlocks().by_begin[begin] = {bytes, ++GetBlocks().last_id};
}

void RemoveBlock(const char* begin) {
  const std::lock_guard lock(StreamMutex());
  GetBlocks().by_begin.erase(begin);
}

}  // namespace null_gpu
