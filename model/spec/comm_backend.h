// SPDX-License-Identifier: MIT
// The libraries that ranks communicate with, by name.

#ifndef TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
#define TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace trainbench {

// Gloo moves tensors of the CPU over TCP; NCCL those of GPUs, one rank per GPU.
enum class CommBackend { kGloo, kNccl };

inline constexpr std::array<CommBackend, 2> kCommBackends = {
    CommBackend::kGloo, CommBackend::kNccl};

// "gloo", "nccl".
absl::string_view CommBackendName(CommBackend backend);

// Gloo's ring (model/distributed/comm/ring.h) sends a part in segments of at
// most this many elements.
inline constexpr int64_t kRingSegment = int64_t{1} << 18;

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_COMM_BACKEND_H_
