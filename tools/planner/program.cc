// SPDX-License-Identifier: MIT

#include "tools/planner/program.h"

#include <algorithm>
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
#include "model/spec/status_macros.h"
#include "tools/planner/plan.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

bool AsksForMesh(const std::vector<std::string>& args) {
  return std::any_of(args.begin(), args.end(), [](absl::string_view arg) {
    const bool is_flag = absl::ConsumePrefix(&arg, "-");
    absl::ConsumePrefix(&arg, "-");
    return is_flag && arg.substr(0, arg.find('=')) == "mesh";
  });
}

absl::StatusOr<Device> OpenNullGpu() {
  if (!HasNullGpu()) {
    return absl::FailedPreconditionError("the null GPU is not preloaded");
  }
  auto device = OpenDevice("cuda");
  if (device.ok()) return device;
  return absl::FailedPreconditionError(device.status().message());
}

absl::StatusOr<Json> AnswerOfModels(const PlannerFlags& flags) {
  ASSIGN_OR_RETURN(const auto query, ReadModelQuery(flags));
  return PlanModels(query);
}

absl::StatusOr<Json> AnswerOfMesh(const PlannerFlags& flags) {
  ASSIGN_OR_RETURN(const auto device, OpenNullGpu());
  ASSIGN_OR_RETURN(const auto query, ReadMeshQuery(flags, device));
  return PlanMeshes(query, device);
}

absl::StatusOr<std::string> Answer(const std::vector<std::string>& args,
                                   bool of_mesh) {
  FlagParser parser;
  PlannerFlags flags;
  of_mesh ? AddMeshFlags(flags, parser) : AddModelFlags(flags, parser);
  ASSIGN_OR_RETURN(const auto positional, parser.Parse(args));
  if (!positional.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument '", positional.front(), "'; allowed: flags"));
  }
  if (flags.help) return parser.Help();
  ASSIGN_OR_RETURN(const Json answer,
                   of_mesh ? AnswerOfMesh(flags) : AnswerOfModels(flags));
  return answer.dump() + "\n";
}

}  // namespace

int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err) {
  constexpr int kUsageError = 2;
  const bool of_mesh = AsksForMesh(args);
  const auto fail = [&](int status, absl::string_view why) {
    // One line, even if a value has line breaks.
    err << (of_mesh ? "tools/rehearse: " : "tools/plan: ")
        << absl::StrReplaceAll(why, {{"\n", "\\n"}, {"\r", "\\r"}}) << "\n";
    return status;
  };
  try {
    const absl::StatusOr<std::string> answer = Answer(args, of_mesh);
    if (!answer.ok()) {
      const bool is_usage = absl::IsInvalidArgument(answer.status()) ||
                            absl::IsNotFound(answer.status());
      return fail(is_usage ? kUsageError : EXIT_FAILURE,
                  answer.status().message());
    }
    out << *answer << std::flush;
    if (out) return EXIT_SUCCESS;
    return fail(EXIT_FAILURE, "cannot write to standard output");
  } catch (const std::exception& error) {
    return fail(EXIT_FAILURE, error.what());
  }
}

}  // namespace trainbench
