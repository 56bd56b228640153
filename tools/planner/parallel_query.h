// SPDX-License-Identifier: MIT
// What the user asks of tools/plan --parallel, checked.

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/accounting/alpha_beta.h"
#include "model/accounting/parallel_bounds.h"
#include "model/accounting/sharded_job.h"

namespace trainbench {

// The values of the flags, as typed.
struct ParallelFlags {
  int64_t tokens = 0;
  int64_t d_model = 0;
  int64_t d_ff = 0;
  int64_t ffn_matrices = 0;
  int64_t blocks = 0;
  double state_bytes_per_param = 0;
  double value_bytes = 0;
  double device_tflops = 0;  // 10^12 FLOP/s
  double link_gb_per_s = 0;  // 10^9 bytes/s
  int64_t fsdp_ranks = 0;
  int64_t tensor_ranks = 0;
  int64_t fsdp_axes = 0;
  int64_t tensor_axes = 0;
  double gpu_gb = 0;
  double fsdp_device_gb = 0;
  int64_t saved_tokens = 0;
  int64_t ranks = 0;
  double gradient_gb = 0;
  std::string links;  // NAME:GB_PER_S:US, by comma
};

struct ParallelLink {
  std::string name;
  AlphaBeta call;
};

struct ParallelQuery {
  LayerJob layer;
  ShardedJob job;
  double gpu_gb = 0;  // of an unsaid unit: that is the trap
  double fsdp_device_bytes = 0;
  double saved_tokens = 0;
  int64_t ranks = 1;
  double gradient_bytes = 0;
  std::vector<ParallelLink> links;
};

// InvalidArgument names the flag, its value and what is allowed. What is
// allowed keeps every row finite.
absl::StatusOr<ParallelQuery> ParseParallelQuery(const ParallelFlags& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_QUERY_H_
