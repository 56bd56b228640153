// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_flags.h"

#include <cstdint>
#include <string>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fixtures/base/our_flags.h"

ABSL_FLAG(bool, parallel, false,
          "Prints what data, FSDP and tensor parallelism send and where they "
          "stop to pay, with the formulas, instead of the costs of models.");
ABSL_FLAG(int64_t, tokens, 1048576,
          "With --parallel: B, tokens in the whole batch.");
ABSL_FLAG(int64_t, d_model, 16384, "With --parallel: D.");
ABSL_FLAG(int64_t, d_ff, 53248, "With --parallel: F.");
ABSL_FLAG(int64_t, ffn_matrices, 3,
          "With --parallel: m, D x F matrices of the layer whose bounds are "
          "printed; 3 in a SwiGLU. (The sharded model's blocks have 2.)");
ABSL_FLAG(int64_t, blocks, 126,
          "With --parallel: L, blocks of the sharded model.");
ABSL_FLAG(double, state_bytes_per_param, 16,
          "With --parallel: weight, gradient and optimizer state.");
ABSL_FLAG(double, value_bytes, 2,
          "With --parallel: b, bytes of an activation, or a weight as sent.");
ABSL_FLAG(double, device_tflops, 460,
          "With --parallel: C, of one device, in 10^12 FLOP/s.");
ABSL_FLAG(double, link_gb_per_s, 180,
          "With --parallel: W, of one axis of links in both directions, in "
          "10^9 bytes/s.");
ABSL_FLAG(int64_t, fsdp_ranks, 16, "With --parallel: X.");
ABSL_FLAG(int64_t, tensor_ranks, 4, "With --parallel: Y.");
ABSL_FLAG(int64_t, fsdp_axes, 2, "With --parallel: M_X, axes of the links.");
ABSL_FLAG(int64_t, tensor_axes, 1, "With --parallel: M_Y, axes of the links.");
ABSL_FLAG(double, gpu_gb, 80,
          "With --parallel: memory of a GPU; printed for units of 10^9 and of "
          "2^30 bytes.");
ABSL_FLAG(double, fsdp_device_gb, 95,
          "With --parallel: memory of a device under FSDP, in 10^9 bytes.");
ABSL_FLAG(int64_t, saved_tokens, 2048,
          "With --parallel: n, tokens whose activations are saved under FSDP, "
          "half of them sharded.");
ABSL_FLAG(int64_t, ranks, 4, "With --parallel: N, of a data-parallel job.");
ABSL_FLAG(double, gradient_gb, 8,
          "With --parallel: S, all gradients, in 10^9 bytes.");
ABSL_FLAG(std::string, links, "h100_nvlink:318:30,a100_pcie:20:50",
          "With --parallel: comma-separated NAME:GB_PER_S:US, links for which "
          "to print the best bucket, each with its bandwidth in 10^9 bytes/s "
          "and the cost of one call.");

namespace trainbench {
namespace {

// Those that go with either mode.
bool IsCommon(const std::string& name) {
  return name == "parallel" || name == "json" || name == "help";
}

bool GoesWithParallel(const absl::CommandLineFlag& flag) {
  return absl::StartsWith(flag.Help(), "With --parallel: ");
}

}  // namespace

bool IsParallelPlan() { return absl::GetFlag(FLAGS_parallel); }

absl::Status CheckFlagsOfMode() {
  for (const auto& [name, flag] : OurFlags()) {
    if (IsCommon(name) || flag->CurrentValue() == flag->DefaultValue() ||
        GoesWithParallel(*flag) == IsParallelPlan()) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "flag '--", name, "' is '", flag->CurrentValue(), "'; allowed: only ",
        IsParallelPlan() ? "without" : "with", " --parallel"));
  }
  return absl::OkStatus();
}

ParallelFlags ReadParallelFlags() {
  return {.tokens = absl::GetFlag(FLAGS_tokens),
          .d_model = absl::GetFlag(FLAGS_d_model),
          .d_ff = absl::GetFlag(FLAGS_d_ff),
          .ffn_matrices = absl::GetFlag(FLAGS_ffn_matrices),
          .blocks = absl::GetFlag(FLAGS_blocks),
          .state_bytes_per_param = absl::GetFlag(FLAGS_state_bytes_per_param),
          .value_bytes = absl::GetFlag(FLAGS_value_bytes),
          .device_tflops = absl::GetFlag(FLAGS_device_tflops),
          .link_gb_per_s = absl::GetFlag(FLAGS_link_gb_per_s),
          .fsdp_ranks = absl::GetFlag(FLAGS_fsdp_ranks),
          .tensor_ranks = absl::GetFlag(FLAGS_tensor_ranks),
          .fsdp_axes = absl::GetFlag(FLAGS_fsdp_axes),
          .tensor_axes = absl::GetFlag(FLAGS_tensor_axes),
          .gpu_gb = absl::GetFlag(FLAGS_gpu_gb),
          .fsdp_device_gb = absl::GetFlag(FLAGS_fsdp_device_gb),
          .saved_tokens = absl::GetFlag(FLAGS_saved_tokens),
          .ranks = absl::GetFlag(FLAGS_ranks),
          .gradient_gb = absl::GetFlag(FLAGS_gradient_gb),
          .links = absl::GetFlag(FLAGS_links)};
}

}  // namespace trainbench
