// SPDX-License-Identifier: MIT
// Does this job fit, and what does it cost? And with --parallel: what do many
// devices send, and when does it pay? Computes, allocates nothing and needs no
// GPU. Exit status: 0, or 2 for wrong usage.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/base/our_flags.h"
#include "tools/planner/json.h"
#include "tools/planner/parallel_flags.h"
#include "tools/planner/parallel_json.h"
#include "tools/planner/parallel_query.h"
#include "tools/planner/parallel_rows.h"
#include "tools/planner/parallel_text.h"
#include "tools/planner/query.h"
#include "tools/planner/rows.h"
#include "tools/planner/text.h"

ABSL_FLAG(std::string, models, "",
          "Comma-separated models: tiny, small, medium, large, xl, 2.7B or a "
          "name that --model defines. Default: all of these.");
ABSL_FLAG(std::string, model, "",
          "Defines one more model; repeatable:\n"
          "name=mine,d_model=512,d_ff=2048,layers=6,heads=8\n"
          "and, if wanted, vocab=32000 (default 10000) and attention=sdpa "
          "(default naive).");
ABSL_FLAG(int64_t, batch, 4, "Sequences in one step.");
ABSL_FLAG(int64_t, seq, 512, "Tokens in one sequence.");
ABSL_FLAG(std::string, precision, "fp32",
          "Comma-separated: fp32, tf32, bf16_autocast, bf16.");
ABSL_FLAG(std::string, mode, "train_step",
          "Comma-separated: inference, forward, forward_backward, "
          "train_step.");
ABSL_FLAG(double, device_memory_gib, 80,
          "Memory of the device, in units of 2^30 bytes.");
ABSL_FLAG(bool, json, false, "Print JSON, with raw numbers, instead of text.");
ABSL_FLAG(bool, help, false, "Print this and exit.");

namespace trainbench {
namespace {

constexpr absl::string_view kUsage =
    "Usage: tools/plan [flags]\n"
    "\n"
    "Says, without measuring anything, whether a model fits in a device's "
    "memory and\n"
    "what one step of it costs.\n"
    "\n"
    "  tools/plan --models=xl,2.7B --precision=fp32,bf16_autocast --seq=1024\n"
    "\n"
    "Or what parallel training sends, and on how many devices and from which "
    "batch it\n"
    "pays; defaults are those of the CS336 systems assignment (TPU v5p):\n"
    "\n"
    "  tools/plan --parallel --fsdp_ranks=8 --tensor_ranks=8\n"
    "\n";

PlanFlags ReadFlags() {
  return {absl::GetFlag(FLAGS_models),
          absl::GetFlag(FLAGS_model),
          absl::GetFlag(FLAGS_precision),
          absl::GetFlag(FLAGS_mode),
          absl::GetFlag(FLAGS_batch),
          absl::GetFlag(FLAGS_seq),
          absl::GetFlag(FLAGS_device_memory_gib)};
}

absl::StatusOr<std::string> ModelPlan() {
  const absl::StatusOr<PlanQuery> query = ParsePlanQuery(ReadFlags());
  if (!query.ok()) return query.status();
  const absl::StatusOr<std::vector<PlanRow>> rows = ComputePlan(*query);
  if (!rows.ok()) return rows.status();
  return absl::GetFlag(FLAGS_json) ? PlanJson(*query, *rows)
                                   : PlanText(*query, *rows);
}

absl::StatusOr<std::string> ParallelPlan() {
  const ParallelFlags flags = ReadParallelFlags();
  const absl::StatusOr<ParallelQuery> query = ParseParallelQuery(flags);
  if (!query.ok()) return query.status();
  const std::vector<ParallelGroup> groups = ComputeParallelPlan(*query);
  return absl::GetFlag(FLAGS_json) ? ParallelJson(flags, groups)
                                   : ParallelText(groups);
}

// What to print.
absl::StatusOr<std::string> Run(const std::vector<std::string>& args) {
  const auto positional = ParseFlags(args, /*repeatable=*/{"model"});
  if (!positional.ok()) return positional.status();
  if (!positional->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument '", positional->front(), "'; allowed: flags"));
  }
  if (absl::GetFlag(FLAGS_help)) return absl::StrCat(kUsage, FlagsHelp());
  const absl::Status status = CheckFlagsOfMode();
  if (!status.ok()) return status;
  return IsParallelPlan() ? ParallelPlan() : ModelPlan();
}

int Main(const std::vector<std::string>& args) {
  const absl::StatusOr<std::string> output = Run(args);
  if (!output.ok()) {
    // One line, whatever the user typed.
    std::cerr << "tools/plan: "
              << absl::StrReplaceAll(output.status().message(),
                                     {{"\n", "\\n"}, {"\r", "\\r"}})
              << "\n";
    return 2;
  }
  std::cout << *output << std::flush;
  if (std::cout) return EXIT_SUCCESS;
  std::cerr << "tools/plan: cannot write to standard output\n";
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace trainbench

int main(int argc, char** argv) {
  return trainbench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
