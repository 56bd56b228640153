// SPDX-License-Identifier: MIT
// Predicts, without measuring anything, whether a model fits in memory and the
// cost of one step; with --parallel, the traffic of parallel training and its
// bounds. Exit status: 0; 2 for wrong usage; 1 if standard output cannot be
// written.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/file.h"
#include "fixtures/base/flag_parser.h"
#include "tools/planner/flags.h"
#include "tools/planner/plan.h"
#include "tools/planner/print.h"
#include "tools/planner/query.h"

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
    "How long training takes, at a share of the device's peak or as measured:\n"
    "\n"
    "  tools/plan --models=gpt2-xl --tokens=300e9 --mfu=0.4 --peak_tflops=312\n"
    "\n"
    "Or what parallel training sends, and on how many devices and from which "
    "batch it\n"
    "pays off; defaults are those of the CS336 systems assignment (TPU v5p):\n"
    "\n"
    "  tools/plan --parallel --fsdp_ranks=8 --tensor_ranks=8\n"
    "\n";

absl::StatusOr<std::string> ModelPlan(const PlannerFlags& flags) {
  const absl::StatusOr<ModelQuery> query = ReadModelQuery(flags);
  if (!query.ok()) return query.status();
  const absl::StatusOr<std::vector<ModelRow>> rows = PlanModels(*query);
  if (!rows.ok()) return rows.status();
  return flags.json ? ModelJson(*query, *rows) : ModelText(*query, *rows);
}

absl::StatusOr<std::string> ParallelPlan(const PlannerFlags& flags,
                                         const ModeFlags& declared) {
  const absl::StatusOr<ParallelQuery> query =
      ReadParallelQuery(flags, declared);
  if (!query.ok()) return query.status();
  const std::vector<ParallelGroup> groups = PlanParallel(*query);
  return flags.json ? ParallelJson(*query, groups) : ParallelText(groups);
}

// The text for standard output.
absl::StatusOr<std::string> Run(const std::vector<std::string>& args) {
  FlagParser parser;
  ModeFlags declared(parser);
  PlannerFlags flags;
  AddPlannerFlags(flags, declared);
  const auto positional = parser.Parse(args);
  if (!positional.ok()) return positional.status();
  if (!positional->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument '", positional->front(), "'; allowed: flags"));
  }
  if (flags.help) return absl::StrCat(kUsage, parser.Help());
  const absl::Status status =
      declared.CheckMode(flags.parallel ? Mode::kParallel : Mode::kModels);
  if (!status.ok()) return status;
  return flags.parallel ? ParallelPlan(flags, declared) : ModelPlan(flags);
}

int Main(const std::vector<std::string>& args) {
  const absl::StatusOr<std::string> output = Run(args);
  if (!output.ok()) {
    // One line, even if a value has line breaks.
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
  trainbench::ReportFullFiles();
  return trainbench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
