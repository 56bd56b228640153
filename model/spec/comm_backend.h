// SPDX-License-Identifier: MIT
// Communication libraries, by name.

#ifndef TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
#define TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_

#include "model/spec/enum_names.h"

namespace trainbench {

// Gloo sends CPU tensors over TCP; NCCL sends GPU tensors, one rank per GPU.
enum class CommBackend { kGloo, kNccl };

inline constexpr EnumNames<CommBackend, 2> CommBackendName{"gloo", "nccl"};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
