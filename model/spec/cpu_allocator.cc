// SPDX-License-Identifier: MIT

#include "model/spec/cpu_allocator.h"

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

}  // namespace trainbench
