// SPDX-License-Identifier: MIT
// The least time of a training step on a mesh of ranks, from peaks and links.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "fixtures/prediction/dry_call.h"
#include "model/accounting/alpha_beta.h"
#include "model/spec/enum_names.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

// A link between ranks: the cost of one call, and of each byte that a rank
// sends.
struct Link {
  std::string name;
  AlphaBeta call;
};

struct MeshMachine {
  double flops_per_second = 1;  // of one GPU
  double bytes_per_second = 1;  // of its memory
  int64_t node_ranks = 8;
  Link inside;   // from a GPU to others of its node
  Link between;  // from a GPU to GPUs of other nodes
};

// Returns the cost of a call of an axis's group, and of each byte that a rank
// sends. A ring through several nodes crosses between two of them on as many
// links as it has ranks in each, but is no faster than inside a node.
AlphaBeta LinkOf(const MeshShape& mesh, MeshAxis axis,
                 const MeshMachine& machine);

// The kinds of work in a step's time. kUpdate is AdamW's memory traffic.
enum class MeshBound { kCompute, kTensor, kFsdp, kData, kUpdate };

inline constexpr EnumNames<MeshBound, 5> MeshBoundName{
    "compute", "tensor", "fsdp", "data", "update"};
inline constexpr auto kMeshBounds = MeshBoundName.values();

// Times of one pass, in microseconds.
struct PassTime {
  // Sum over components of the longer of the times for FLOPs and for bytes.
  double compute_us = 0;
  double tensor_us = 0;  // calls of each group, one after another
  double fsdp_us = 0;
  double data_us = 0;
};

// With prefetch, a pass takes the longer of its compute plus the tensor group's
// all-reduces, and of the fsdp and data groups' collectives, one after another.
// Without prefetch nothing overlaps. Then AdamW reads and writes 28 bytes for
// each parameter of the rank's shard.
struct MeshTime {
  PassTime forward, backward;  // backward includes recomputation
  double update_us = 0;
  bool overlaps = true;

  double Us(MeshBound part) const;  // the part's time within step_us()
  double step_us() const;
  // The largest part.
  MeshBound bound() const;
  // Compute is the largest part, and hides all collectives that it can hide.
  bool is_compute_bound() const;
};
inline constexpr char kOverlapModel[] =
    "forward and backward pass each take the longer of two times: their "
    "computation plus the tensor group's all-reduces, which do not overlap it, "
    "or the fsdp and data groups' collectives, one after another; AdamW "
    "follows";
inline constexpr char kSerialModel[] =
    "without prefetch nothing overlaps: computation, the collectives of all "
    "groups and AdamW run one after another";

// The work of a rank's operators in a step of `batch` sequences, by component,
// and the work that each further sequence adds: it grows linearly.
struct RankWork {
  int64_t batch = 1;
  WorkByPart step;
  WorkByPart of_sequence;

  // Derives the work from steps of `batch` sequences and of one more.
  static RankWork Of(int64_t batch, const WorkByPart& step,
                     const WorkByPart& larger);
};

MeshTime TimeOf(const MeshJob& job, const RankWork& work,
                const MeshMachine& machine);

// Returns the smallest batch, up to 2^20, that is compute-bound, or nullopt if
// the tensor group's all-reduces, which grow with it, take longer at any batch.
// The job's own batch is ignored.
std::optional<int64_t> ComputeBoundBatch(const MeshJob& job,
                                         const RankWork& work,
                                         const MeshMachine& machine);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_TIME_H_
