// SPDX-License-Identifier: MIT
// The flags of tools/plan, and the two questions that they ask, checked.

#ifndef TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fixtures/base/flag_parser.h"
#include "model/accounting/parallel/alpha_beta.h"
#include "model/accounting/parallel/parallel_bounds.h"
#include "model/accounting/parallel/sharded_job.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"
#include "tools/planner/training.h"

ABSL_DECLARE_FLAG(bool, help);
ABSL_DECLARE_FLAG(bool, json);
ABSL_DECLARE_FLAG(bool, parallel);

namespace trainbench {

inline constexpr int64_t kDefaultTokens = int64_t{1} << 20;
// The range of amounts and rates, in the unit of their flag.
inline constexpr double kMin = 1e-6, kMax = 1e9;

// Does each model fit in a device's memory, and what does one step cost?
struct ModelQuery {
  std::vector<ModelConfig> models;
  std::vector<Precision> precisions;
  std::vector<StepMode> modes;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t device_memory_bytes = 0;
  std::optional<TrainingQuery> training;  // with --mfu or --measured
};

// A link between ranks: its bandwidth and the cost of one call.
struct Link {
  std::string name;
  AlphaBeta call;
};

// What does parallel training send, and when does it pay off?
struct ParallelQuery {
  LayerJob layer;
  ShardedJob job;
  double gpu_gb = 0;  // of 10^9 or of 2^30 bytes: the answer shows both
  double fsdp_device_bytes = 0;
  double saved_tokens = 0;
  int64_t ranks = 1;
  double gradient_bytes = 0;
  std::vector<Link> links;
  // The flags as the user gave them, for the JSON output.
  std::vector<std::pair<std::string, double>> numbers;
  std::string links_flag;
};

// All flags; --model adds to `models`.
void AddPlannerFlags(std::vector<ModelConfig>& models, FlagParser& flags);

// InvalidArgument names the first flag that was changed but has no effect: a
// flag of --parallel without --parallel, or any other flag with it.
absl::Status CheckFlagsOfMode(const FlagParser& flags);

// InvalidArgument or NotFound names the value and what is allowed.
absl::StatusOr<ModelQuery> ReadModelQuery(
    const std::vector<ModelConfig>& custom);

// Of it the training run; none if no flag asks for one.
absl::StatusOr<std::optional<TrainingQuery>> ReadTrainingQuery();

// InvalidArgument names the flag, its value and what is allowed. The allowed
// ranges keep every row finite.
absl::StatusOr<ParallelQuery> ReadParallelQuery();

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
