// SPDX-License-Identifier: MIT
// The two questions that the flags of tools/plan ask, checked.

#ifndef TRAINBENCH_TOOLS_PLANNER_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_QUERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/accounting/parallel/links.h"
#include "model/accounting/parallel/parallel_bounds.h"
#include "model/accounting/parallel/sharded_job.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"
#include "tools/planner/flags.h"
#include "tools/planner/training.h"

namespace trainbench {

// Does each model fit in a device's memory, and what does one step cost?
struct ModelQuery {
  std::vector<ModelConfig> models;
  std::vector<Precision> precisions;
  std::vector<StepMode> modes;
  // Empty: as the models say.
  std::vector<Checkpointing> checkpointing;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t device_memory_bytes = 0;
  bool wants_batch = false;               // the largest that fits
  std::optional<TrainingQuery> training;  // with --mfu or --measured
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

// InvalidArgument or NotFound names the value and what is allowed.
absl::StatusOr<ModelQuery> ReadModelQuery(const PlannerFlags& flags);

// Of it the training run; none if no flag asks for one.
absl::StatusOr<std::optional<TrainingQuery>> ReadTrainingQuery(
    const PlannerFlags& flags);

// `flags` is what `declared` has set. InvalidArgument names the flag, its value
// and what is allowed.
absl::StatusOr<ParallelQuery> ReadParallelQuery(const PlannerFlags& flags,
                                                const ModeFlags& declared);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_QUERY_H_
