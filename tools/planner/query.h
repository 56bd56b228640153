// SPDX-License-Identifier: MIT
// The query of tools/plan, read from its flags and validated.

#ifndef TRAINBENCH_TOOLS_PLANNER_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "model/spec/config.h"
#include "model/spec/implementation.h"
#include "model/spec/parallel/mesh_shape.h"
#include "model/spec/precision.h"
#include "model/spec/step_params.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

// Asks whether models fit in a device's memory, and what one step costs: of
// models on one device, or of one model on meshes of ranks.
struct Query {
  std::vector<Checkpointing> checkpointing;
  bool wants_batch = false;  // the largest that fits

  // For ranks of a mesh.
  MeshJob job;  // without a mesh, which OnMesh sets
  std::vector<MeshShape> meshes;
  bool searches = false;  // `meshes` are all of some numbers of ranks
  // Split among the batches; 0: each has the batch of `job`.
  int64_t global_batch = 0;
  int64_t spare_bytes = 0;        // must stay free on each GPU
  bool rehearses = false;         // instead of a prediction
  std::vector<std::string> only;  // "MESH/CHECKPOINT"; empty: all rows
};

// What a mesh trains with unless the user chooses otherwise.
inline constexpr Implementation kMeshImplementation = Implementation::kFused;
inline constexpr char kMeshCheckpoints[] = "none,every_1";

// Values as the user gives them, in the unit of the flag of the same name.
struct PlannerFlags {
  bool help = false;
  Query query;  // only its numbers and wishes
  std::string precision = "fp32";
  std::string checkpoint;  // empty: the default

  // For ranks of a mesh.
  std::string mesh;
  std::string ranks;
  std::string rank = "first";
  std::string model = "8B";
  std::string implementation;  // empty: the definition's, or the default
  std::string attention;       // empty: the implementation's
  double spare_gib = 1;
};

void AddMeshFlags(PlannerFlags& values, FlagParser& flags);

// Validate flags; a mesh is one of GPUs like `device`. InvalidArgument or
// NotFound names the value and what is allowed.
absl::StatusOr<Query> ReadMeshQuery(const PlannerFlags& flags,
                                    const Device& device);

// Returns the job on a mesh. InvalidArgument if the mesh cannot divide it.
absl::StatusOr<MeshJob> OnMesh(const Query& query, const MeshShape& mesh);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_QUERY_H_
