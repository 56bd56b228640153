// SPDX-License-Identifier: MIT

#include "tools/planner/program.h"

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
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

// The text of the answer.
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

}  // namespace

int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err) {
  const absl::StatusOr<std::string> output = Run(args);
  if (!output.ok()) {
    // One line, even if a value has line breaks.
    err << "tools/plan: "
        << absl::StrReplaceAll(output.status().message(),
                               {{"\n", "\\n"}, {"\r", "\\r"}})
        << "\n";
    return 2;
  }
  out << *output << std::flush;
  if (out) return EXIT_SUCCESS;
  err << "tools/plan: cannot write to standard output\n";
  return EXIT_FAILURE;
}

}  // namespace trainbench
