// SPDX-License-Identifier: MIT
// Collectives, by name.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_

#include <array>

#include "absl/strings/string_view.h"

namespace trainbench {

enum class CollectiveKind { kAllReduce, kAllGather, kReduceScatter };
inline constexpr std::array<CollectiveKind, 3> kCollectiveKinds = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
    CollectiveKind::kReduceScatter};

// "all_reduce", "all_gather", "reduce_scatter".
absl::string_view CollectiveName(CollectiveKind kind);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_COLLECTIVE_H_
