// SPDX-License-Identifier: MIT
// What the flags ask, checked.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/device/device.h"
#include "tools/planner/mesh/flags.h"
#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_time.h"

namespace trainbench {

struct MeshQuery {
  MeshJob job;  // on any mesh, with any of `checkpointing`
  std::vector<Checkpointing> checkpointing;
  std::optional<MeshShape> mesh;  // that is asked for
  std::vector<int64_t> ranks;     // whose meshes are asked for, without one
  int64_t global_batch = 0;  // that the mesh's batches divide; 0: job.batch
  MeshMachine machine;
  int64_t spare_bytes = 0;  // of a GPU's memory
  bool rehearses = true;
};

// The job on a mesh. InvalidArgument if it cannot be divided so.
absl::StatusOr<MeshJob> OnMesh(const MeshQuery& query, const MeshShape& mesh);

// The machine has GPUs like `device`. InvalidArgument or NotFound names the
// value and what is allowed.
absl::StatusOr<MeshQuery> ReadMeshQuery(const MeshFlags& flags,
                                        const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_
