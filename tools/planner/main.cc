// SPDX-License-Identifier: MIT
// trainbench_plan: answers each line of standard input, a request (request.h)
// or an array of flags, by a line: the answer in JSON; {"refused": why} if the
// request is at fault; or {"failed": why}.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "fixtures/base/end_process.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "fixtures/device/null_gpu.h"
#include "model/spec/status_macros.h"
#include "tools/planner/answers.h"
#include "tools/planner/plan.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

absl::StatusOr<Device> OpenNullGpu() {
  if (!HasNullGpu()) {
    return absl::FailedPreconditionError("the null GPU is not preloaded");
  }
  auto device = OpenDevice("cuda");
  if (device.ok()) return device;
  return absl::FailedPreconditionError(device.status().message());
}

absl::StatusOr<Json> AnswerOfMesh(const PlannerFlags& flags) {
  ASSIGN_OR_RETURN(const auto device, OpenNullGpu());
  ASSIGN_OR_RETURN(const auto query, ReadMeshQuery(flags, device));
  return PlanMeshes(query, device);
}

absl::StatusOr<Json> AnswerOf(const std::vector<std::string>& args) {
  FlagParser parser;
  PlannerFlags flags;
  AddMeshFlags(flags, parser);
  ASSIGN_OR_RETURN(const auto positional, parser.Parse(args));
  if (!positional.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument '", positional.front(), "'; allowed: flags"));
  }
  if (flags.help) return Json({{"help", parser.Help()}});
  return AnswerOfMesh(flags);
}

Json Answer(const std::string& line) {
  try {
    const Json request = Json::parse(line);
    const absl::StatusOr<Json> answer =
        request.is_array() ? AnswerOf(request) : ModelRow(request);
    if (answer.ok()) return *answer;
    const absl::Status& why = answer.status();
    const bool is_refused =
        absl::IsInvalidArgument(why) || absl::IsNotFound(why);
    return {{is_refused ? "refused" : "failed", std::string(why.message())}};
  } catch (const std::exception& error) {
    return {{"failed", error.what()}};
  }
}

}  // namespace
}  // namespace trainbench

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << trainbench::Answer(line).dump() << std::endl;
  }
  trainbench::EndProcess(EXIT_SUCCESS);
}
