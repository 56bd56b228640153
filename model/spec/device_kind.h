// SPDX-License-Identifier: MIT
// Device types, and the allocators of CPU tensors.

#ifndef TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_
#define TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class DeviceKind { kCpu, kCuda };

// How the memory of CPU tensors is kept between calls and cases. kCaching keeps
// the pages of freed tensors for later allocations, as a GPU's caching
// allocator does. kSystem is malloc.
enum class CpuAllocator { kCaching, kSystem };

inline constexpr EnumNames<CpuAllocator, 2> CpuAllocatorName{"caching",
                                                             "system"};
inline constexpr auto kCpuAllocators = CpuAllocatorName.values();

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_
