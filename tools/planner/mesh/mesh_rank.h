// SPDX-License-Identifier: MIT
// One rank of a job on a mesh: its memory, found by a dry run of it, and its
// rehearsal on a null GPU.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "fixtures/device/device.h"
#include "fixtures/prediction/dry_call.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

// A parameter's value, its gradient and both moments, in fp32.
inline constexpr int64_t kStateBytes = 16;

struct RankMemory {
  // Bytes of tensors: at the highest point of the build and of a step, and
  // between steps.
  int64_t build_peak_bytes = 0;
  int64_t step_peak_bytes = 0;
  int64_t resident_bytes = 0;
  std::string peak_at;  // of the step
  std::string largest_at_peak;
  WorkByPart work;  // of the step's operators

  // Bytes that the caching allocator reserves, with library workspaces: for the
  // steps; and for the build or the steps, whichever needs more.
  int64_t reserved_bytes() const;
  int64_t needed_bytes() const;
};

// Builds the rank and trains two steps in a DryRun. The job must be valid. The
// error says what cannot run dry, or cannot be counted.
absl::StatusOr<RankMemory> PredictRank(const MeshJob& job,
                                       const Device& device);

// Predicts many ranks with few dry runs. The jobs may differ in mesh, batch and
// checkpointing only. With the same number of tensor ranks, steps differ only
// in their shards, which are always allocated.
class RankPredictor {
 public:
  explicit RankPredictor(const Device& device) : device_(device) {}

  // Like PredictRank, except that the padding of units and largest_at_peak may
  // come from a rank with other shards.
  absl::StatusOr<RankMemory> Predict(const MeshJob& job);

  // The same without build_peak_bytes, which may need a dry run of its own.
  absl::StatusOr<RankMemory> PredictSteps(const MeshJob& job);

  // Returns the largest batch, up to 2^20, that fits in the budget; 0 if
  // not even one sequence does.
  int64_t LargestBatch(const MeshJob& job, int64_t budget_bytes);

 private:
  absl::StatusOr<int64_t> BuildPeak(const MeshJob& job);

  const Device& device_;
  // Without the shards. Keys: tensor ranks, batch, checkpointing.
  std::map<std::tuple<int64_t, int64_t, std::string>, RankMemory> steps_;
  // Keys: tensor ranks, batch, fsdp ranks.
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> builds_;
};

// Builds the rank on a null GPU, trains two steps and destroys it. Returns
// exact values, for a valid job:
//
//   peak_bytes, build_peak_bytes, resident_bytes: of tensors, without library
//     workspaces: at the peak of the steps and of the build, and between steps
//   library_bytes: of these workspaces
//   reserved_bytes: by the caching allocator, at its highest point in the steps
//   shard_elements
//   phases: of the second step, as in RehearsedCall
//   collectives: the second step's, as in CollectivesJson
//
// or, if memory ran out, out_of_memory alone: as from CatchOutOfMemory, and the
// phase, which may be "build".
nlohmann::ordered_json RehearseRank(const MeshJob& job, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
