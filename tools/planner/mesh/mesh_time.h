// SPDX-License-Identifier: MIT
// The least time of a training step on a mesh of ranks, from peaks and links.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_

#include <cstdint>
#include <optional>

#include "fixtures/prediction/dry_call.h"
#include "model/spec/enum_names.h"
#include "tools/planner/mesh/links.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

struct MeshMachine {
  double flops_per_second = 1;  // of one GPU
  double bytes_per_second = 1;  // of its memory
  int64_t node_ranks = 8;
  Link inside;   // from a GPU to those of its node
  Link between;  // from a GPU to those of other nodes
};

// The cost of a call of the group along an axis, and of each byte that a rank
// sends. A ring through several nodes crosses between two of them on as many
// links as it has ranks in each, but is no faster than inside a node.
AlphaBeta LinkOf(const MeshShape& mesh, MeshAxis axis,
                 const MeshMachine& machine);

// What a part of the step's time is spent on. kUpdate: memory, in AdamW.
enum class MeshBound { kCompute, kTensor, kFsdp, kData, kUpdate };

inline constexpr EnumNames<MeshBound, 5> MeshBoundName{
    "compute", "tensor", "fsdp", "data", "update"};
inline constexpr auto kMeshBounds = MeshBoundName.values();

// Of one pass, in microseconds.
struct PassTime {
  // Of each component its FLOPs or its operators' bytes.
  double compute_us = 0;
  double tensor_us = 0;  // the calls of each group, one after another
  double fsdp_us = 0;
  double data_us = 0;
};

// With prefetch, a pass takes the longer of two: its compute and the tensor
// group's all-reduces, for which it waits; or what the fsdp and data groups
// exchange meanwhile, one call after another. Without, all of it in a row. Then
// AdamW reads and writes 28 bytes for each parameter of the rank's shard.
struct MeshTime {
  PassTime forward, backward;  // backward: with what it recomputes
  double update_us = 0;
  bool overlaps = true;

  double Us(MeshBound part) const;  // of that which the step takes
  double step_us() const;
  // The largest part.
  MeshBound bound() const;
  // The largest part is the compute, and it hides all that it can.
  bool is_compute_bound() const;
};
inline constexpr char kOverlapModel[] =
    "forward and backward pass each take the longer of their computation with "
    "the tensor group's all-reduces, which nothing hides, and of the fsdp and "
    "data groups' collectives, one after another beside it; AdamW follows";
inline constexpr char kSerialModel[] =
    "without prefetch nothing overlaps: computation, the collectives of all "
    "groups and AdamW follow one another";

// What a rank's operators do in a step of `batch` sequences, by component, and
// what each sequence more adds: both grow evenly.
struct RankWork {
  int64_t batch = 1;
  WorkByPart step;
  WorkByPart of_sequence;

  // From steps of `batch` sequences and of one more.
  static RankWork Of(int64_t batch, const WorkByPart& step,
                     const WorkByPart& larger);
};

MeshTime TimeOf(const MeshJob& job, const RankWork& work,
                const MeshMachine& machine);

// The smallest batch, up to 2^20, that is compute-bound; none if the tensor
// group's all-reduces, which grow with it, take longer at any. The job's own
// batch does not matter.
std::optional<int64_t> ComputeBoundBatch(const MeshJob& job,
                                         const RankWork& work,
                                         const MeshMachine& machine);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_
