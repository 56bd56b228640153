// SPDX-License-Identifier: MIT
// The flags of the program behind tools/rehearse --mesh.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_FLAGS_H_

#include <cstdint>
#include <string>

#include "fixtures/base/flag_parser.h"

namespace trainbench {

inline constexpr char kCheckpoints[] = "none,every_1";
inline constexpr char kImplementation[] = "fused";  // for a named model

// Values as the user gives them.
struct MeshFlags {
  bool help = false;
  std::string mesh;
  std::string ranks;
  std::string rank = "first";
  std::string model = "8B";
  std::string implementation;  // empty: the definition's, or kImplementation
  std::string attention;       // empty: the implementation's
  std::string checkpoint;      // empty: the model's, or kCheckpoints
  std::string precision = "bf16";
  int64_t batch = 1;
  int64_t global_batch = 0;  // 0: not given
  int64_t seq = 32768;
  bool reshard = true;
  bool prefetch = true;
  bool predict_only = false;
  std::string links = "h100_nvlink:450:30,infiniband_ndr:50:30";
  int64_t node_ranks = 8;
  double spare_gib = 1;
  double device_tflops = 0;    // 0: from the data sheet
  double memory_gb_per_s = 0;  // 0: from the data sheet
};

void AddMeshFlags(MeshFlags& values, FlagParser& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_FLAGS_H_
