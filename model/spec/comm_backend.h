// SPDX-License-Identifier: MIT
// Communication libraries, by name.

#ifndef TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
#define TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_

#include <cstdint>

#include "model/spec/enum_names.h"

namespace trainbench {

// Gloo sends CPU tensors over TCP; NCCL sends GPU tensors, one rank per GPU.
enum class CommBackend { kGloo, kNccl };

inline constexpr EnumNames<CommBackend, 2> CommBackendName{"gloo", "nccl"};

// Longest message of Gloo's ring (comm/gloo_exchanges.h), in elements.
inline constexpr int64_t kRingSegment = int64_t{1} << 18;

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
