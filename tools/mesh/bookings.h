// SPDX-License-Identifier: MIT
// The collectives of a rank, counted.

#ifndef TRAINBENCH_TOOLS_MESH_BOOKINGS_H_
#define TRAINBENCH_TOOLS_MESH_BOOKINGS_H_

#include <memory>
#include <vector>

#include "model/accounting/parallel/mesh_job.h"
#include "model/distributed/comm/process_group.h"
#include "model/spec/parallel/mesh_shape.h"

namespace trainbench {

class Bookings {
 public:
  // A rank's group along an axis of the mesh, without the other ranks, whose
  // collectives are counted here. This object outlives it.
  std::unique_ptr<ProcessGroup> MakeGroup(MeshAxis axis, int rank, int size);

  // Since the last call, by axis and kind.
  std::vector<CollectiveCalls> Take();

 private:
  MeshTraffic traffic_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_MESH_BOOKINGS_H_
