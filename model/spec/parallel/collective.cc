// SPDX-License-Identifier: MIT

#include "model/spec/parallel/collective.h"

namespace trainbench {

absl::string_view CollectiveName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
  }
  return "";
}

}  // namespace trainbench
