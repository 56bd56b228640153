// SPDX-License-Identifier: MIT
// The flags of tools/plan. Each is declared once, in the source file.

#ifndef TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/config.h"
#include "tools/planner/mode_flags.h"

namespace trainbench {

inline constexpr int64_t kDefaultTokens = int64_t{1} << 20;
inline constexpr int64_t kMaxTokens = int64_t{1} << 40;  // with --parallel
// The range of amounts and rates, in the unit of their flag.
inline constexpr Range kAmount = {1e-6, 1e9};

// Values as the user gives them, in the unit of the flag of the same name.
struct PlannerFlags {
  bool help = false;
  bool json = false;
  bool parallel = false;
  int64_t tokens = kDefaultTokens;

  std::vector<ModelConfig> custom_models;
  std::string models;
  int64_t batch = 4;
  int64_t seq = 512;
  std::string precision = "fp32";
  std::string mode = "train_step";
  std::string checkpoint;  // as the models say
  double device_memory_gib = 80;
  double mfu = 0;
  double peak_tflops = 0;
  std::string measured;

  int64_t d_model = 16384;
  int64_t d_ff = 53248;
  int64_t ffn_matrices = 3;
  int64_t blocks = 126;
  double state_bytes_per_param = 16;
  double value_bytes = 2;
  double device_tflops = 460;
  double link_gb_per_s = 180;
  int64_t fsdp_ranks = 16;
  int64_t tensor_ranks = 4;
  int64_t fsdp_axes = 2;
  int64_t tensor_axes = 1;
  double gpu_gb = 80;
  double fsdp_device_gb = 95;
  int64_t saved_tokens = 2048;
  int64_t ranks = 4;
  double gradient_gb = 8;
  std::string links = "h100_nvlink:318:30,a100_pcie:20:50";
};

// Flags that set `values`, whose values are the defaults. The ranges of the
// flags of --parallel keep every row finite.
void AddPlannerFlags(PlannerFlags& values, ModeFlags& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
