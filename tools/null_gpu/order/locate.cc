// SPDX-License-Identifier: MIT
// Finds the memory that operations read and write.

#include <cstring>
#include <utility>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/blocks.h"
#include "tools/null_gpu/order/order.h"

namespace null_gpu {
namespace {

size_t Span(const Operation& operation, size_t pitch) {
  return (operation.rows - 1) * pitch + operation.bytes;
}

void AddCopied(Operation& operation) {
  if (operation.bytes == 0 || operation.rows == 0) return;
  const size_t to_bytes = Span(operation, operation.to_pitch);
  operation.accesses.push_back(WriteOf(operation.to, to_bytes));
  if (operation.kind == Operation::Kind::kFill) return;
  const size_t from_bytes = Span(operation, operation.from_pitch);
  operation.accesses.push_back(ReadOf(operation.from, from_bytes));
}

}  // namespace

Accesses AccessesOf(const Kernel& kernel, void** arguments) {
  Accesses accesses;
  const KernelNeeds* const needs = kernel.needs;
  if (!GetSettings().watches_memory() || needs == nullptr ||
      arguments == nullptr) {
    return accesses;
  }
  for (const size_t bytes : needs->arguments) {
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
    if (GetBlocks().Locate(access)) found.push_back(access);
  }
  operation.accesses = std::move(found);
}

}  // namespace null_gpu
