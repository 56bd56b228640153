// SPDX-License-Identifier: MIT
// One rank's part of a training step on a mesh of ranks, in closed form: the
// model is divided matrix by matrix (model/distributed/tensor_parallel), each
// part shard by shard (model/distributed/fsdp), and replicas average gradients.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_JOB_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_JOB_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "model/distributed/comm/traffic.h"
#include "model/spec/parallel/mesh_shape.h"
#include "model/spec/parallel/sharding.h"
#include "model/spec/precision.h"
#include "model/spec/step_params.h"

namespace trainbench {

struct MeshJob {
  MeshShape mesh;
  // The whole model's. The tensor ranks share one of the mesh's batches.
  StepParams step = {.model = {},
                     .precision = Precision::kBf16,
                     .mode = StepMode::kForwardBackward};
  FullSharding sharding = {};
  // True: the last rank. False: the first rank, which has the largest part.
  bool last_rank = false;
};

// Returns the step of the rank's part of the model, as a GPU computes it. The
// job must be valid here and below: its tensor ranks can share the model
// (ValidateParts).
StepParams PartStep(const MeshJob& job);

// Parameters in the rank's shards, padded ones included.
int64_t ShardElements(const MeshJob& job);

// Traffic of the rank's groups. Axes of one rank have none.
using MeshTraffic = std::map<MeshAxis, Traffic>;
struct PassTraffic {
  MeshTraffic forward, backward;
  MeshTraffic step;  // both together
};
PassTraffic TrafficOf(const MeshJob& job);

// Returns [{group, collective, calls, bytes, sent_bytes}, ...]: the bytes of
// whole buffers, and the part that the rank sends on a ring.
nlohmann::ordered_json CollectivesJson(const MeshTraffic& all,
                                       const MeshShape& mesh);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_JOB_H_
