// SPDX-License-Identifier: MIT
// Collectives and the libraries that run them, by name.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class CollectiveKind {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast
};

inline constexpr EnumNames<CollectiveKind, 4> CollectiveName{
    "all_reduce", "all_gather", "reduce_scatter", "broadcast"};
inline constexpr auto kCollectiveKinds = CollectiveName.values();

// Gloo sends CPU tensors over TCP; NCCL sends GPU tensors, one rank per GPU.
enum class CommBackend { kGloo, kNccl };

inline constexpr EnumNames<CommBackend, 2> CommBackendName{"gloo", "nccl"};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_
