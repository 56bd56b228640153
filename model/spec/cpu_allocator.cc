// SPDX-License-Identifier: MIT

#include "model/spec/cpu_allocator.h"

#include "model/spec/not_allowed.h"

namespace trainbench {

absl::string_view CpuAllocatorName(CpuAllocator allocator) {
  switch (allocator) {
    case CpuAllocator::kCaching:
      return "caching";
    case CpuAllocator::kSystem:
      return "system";
  }
  return "unknown";
}

absl::StatusOr<CpuAllocator> ParseCpuAllocator(absl::string_view name) {
  for (const CpuAllocator allocator : kCpuAllocators) {
    if (name == CpuAllocatorName(allocator)) return allocator;
  }
  return TextNotAllowed("--cpu_allocator", name, "caching, system");
}

}  // namespace trainbench
