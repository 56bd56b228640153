// SPDX-License-Identifier: MIT

#include "tools/planner/program.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "fixtures/device/null_gpu.h"
#include "model/accounting/library.h"
#include "model/spec/status_macros.h"
#include "tools/planner/mesh/query.h"
#include "tools/planner/mesh/rows.h"
#include "tools/planner/plan.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

bool AsksForMesh(const std::vector<std::string>& args) {
  return std::any_of(args.begin(), args.end(), [](absl::string_view arg) {
    const bool is_flag = absl::ConsumePrefix(&arg, "-");
    absl::ConsumePrefix(&arg, "-");
    return is_flag && arg.substr(0, arg.find('=')) == "mesh";
  });
}

absl::Status Parse(const std::vector<std::string>& args, FlagParser& parser) {
  ASSIGN_OR_RETURN(const auto positional, parser.Parse(args));
  if (positional.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "unexpected argument '", positional.front(), "'; allowed: flags"));
}

absl::StatusOr<std::string> AnswerOfModels(
    const std::vector<std::string>& args) {
  FlagParser parser;
  PlannerFlags flags;
  AddPlannerFlags(flags, parser);
  RETURN_IF_ERROR(Parse(args, parser));
  if (flags.help) return parser.Help();
  ASSIGN_OR_RETURN(const auto query, ReadModelQuery(flags));
  ASSIGN_OR_RETURN(const auto rows, PlanModels(query));
  return ModelJson(query, rows);
}

absl::StatusOr<std::string> AnswerOfMesh(const std::vector<std::string>& args) {
  FlagParser parser;
  MeshFlags flags;
  AddMeshFlags(flags, parser);
  RETURN_IF_ERROR(Parse(args, parser));
  if (flags.help) return parser.Help();
  if (!HasNullGpu()) {
    return absl::FailedPreconditionError("the null GPU is not preloaded");
  }
  const auto device = OpenDevice("cuda");
  if (!device.ok()) {
    return absl::FailedPreconditionError(device.status().message());
  }
  ASSIGN_OR_RETURN(const auto query, ReadMeshQuery(flags, *device));
  const int64_t free_bytes = device->FreeBytes();
  const int64_t budget_bytes = free_bytes - kKernelBytes - query.spare_bytes;
  std::vector<MeshRow> rows = RowsOf(query, *device, budget_bytes);
  if (query.rehearses) RehearseBest(*device, budget_bytes, rows);
  return MeshDocument(query, *device, free_bytes, rows);
}

}  // namespace

int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err) {
  constexpr int kUsageError = 2;
  const bool asks_for_mesh = AsksForMesh(args);
  const auto fail = [&](int status, absl::string_view why) {
    // One line, even if a value has line breaks.
    err << (asks_for_mesh ? "tools/rehearse: " : "tools/plan: ")
        << absl::StrReplaceAll(why, {{"\n", "\\n"}, {"\r", "\\r"}}) << "\n";
    return status;
  };
  try {
    const absl::StatusOr<std::string> answer =
        asks_for_mesh ? AnswerOfMesh(args) : AnswerOfModels(args);
    if (absl::IsFailedPrecondition(answer.status())) {
      return fail(EXIT_FAILURE, answer.status().message());
    }
    if (!answer.ok()) return fail(kUsageError, answer.status().message());
    out << *answer << std::flush;
    if (out) return EXIT_SUCCESS;
    return fail(EXIT_FAILURE, "cannot write to standard output");
  } catch (const std::exception& error) {
    return fail(EXIT_FAILURE, error.what());
  }
}

}  // namespace trainbench
