// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_REHEARSAL_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_REHEARSAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/memory/out_of_memory.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

// The memory and work of a rank on a null GPU. All values are exact.
struct MeshRehearsal {
  // The phase in which memory ran out, or "build"; later values are then 0.
  std::optional<OutOfMemory> out_of_memory;
  std::string ended_in;  // the last phase that began

  int64_t shard_elements = 0;
  // Bytes of tensors, without library workspaces: at the peak of the build and
  // of the steps, and between steps.
  int64_t build_peak_bytes = 0;
  int64_t step_peak_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t library_bytes = 0;
  // Reserved by the caching allocator, at its highest point during the steps.
  int64_t reserved_bytes = 0;
  // The fields below count the second step.
  MeshTraffic collectives;
  std::vector<std::pair<std::string, int64_t>> kernels;  // by phase
  // "launches", "copies_d2d", ...: tools/null_gpu/null_gpu.h
  std::map<std::string, int64_t> counters;
};

// Builds the rank, trains two steps and destroys it. The job must be valid.
MeshRehearsal RehearseRank(const MeshJob& job, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_REHEARSAL_H_
