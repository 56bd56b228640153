// SPDX-License-Identifier: MIT
// How the memory of CPU tensors is kept between calls.

#ifndef TRAINBENCH_MODEL_SPEC_CPU_ALLOCATOR_H_
#define TRAINBENCH_MODEL_SPEC_CPU_ALLOCATOR_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// kCaching keeps the pages of a freed tensor for the next, as a GPU's caching
// allocator does. kSystem is malloc.
enum class CpuAllocator { kCaching, kSystem };

inline constexpr std::array<CpuAllocator, 2> kCpuAllocators = {
    CpuAllocator::kCaching, CpuAllocator::kSystem};

// "caching", "system".
absl::string_view CpuAllocatorName(CpuAllocator allocator);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<CpuAllocator> ParseCpuAllocator(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CPU_ALLOCATOR_H_
