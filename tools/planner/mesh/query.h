// SPDX-License-Identifier: MIT
// The query of tools/rehearse --mesh, read from its flags and validated.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_time.h"

namespace trainbench {

struct MeshQuery {
  MeshJob job;  // its mesh and checkpointing are chosen from the next fields
  std::vector<Checkpointing> checkpointing;
  std::optional<MeshShape> mesh;  // the only one, if the user gives it
  std::vector<int64_t> ranks;     // otherwise all meshes of these numbers
  int64_t global_batch = 0;       // split among the batches; 0: use job.batch
  MeshMachine machine;
  int64_t spare_bytes = 0;  // must stay free on each GPU
  bool rehearses = true;
};

// Values as the user gives them.
struct MeshFlags {
  bool help = false;
  MeshQuery query;  // only the job's sizes and sharding, and node_ranks
  std::string mesh;
  std::string ranks;
  std::string rank = "first";
  std::string model = "8B";
  std::string implementation;  // empty: the definition's, or the default
  std::string attention;       // empty: the implementation's
  std::string checkpoint;      // empty: the model's, or the defaults
  std::string precision = "bf16";
  bool predict_only = false;
  std::string links = "h100_nvlink:450:30,infiniband_ndr:50:30";
  double spare_gib = 1;
  double device_tflops = 0;    // 0: from the data sheet
  double memory_gb_per_s = 0;  // 0: from the data sheet
};

void AddMeshFlags(MeshFlags& values, FlagParser& flags);

// Returns the job on a mesh. InvalidArgument if the mesh cannot divide it.
absl::StatusOr<MeshJob> OnMesh(const MeshQuery& query, const MeshShape& mesh);

// Validates flags for a machine with GPUs like `device`. InvalidArgument or
// NotFound names the value and what is allowed.
absl::StatusOr<MeshQuery> ReadMeshQuery(const MeshFlags& flags,
                                        const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_QUERY_H_
