// SPDX-License-Identifier: MIT
// trainbench_plan: answers each line of standard input, a request in JSON
// (answers.h), by a line: the answer; {"refused": why} if the request is at
// fault; or {"failed": why}.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fixtures/base/end_process.h"
#include "tools/planner/answers.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

Json Answer(const std::string& line) {
  try {
    const Json request = Json::parse(line);
    const absl::StatusOr<Json> answer =
        request.contains("ranks") ? MeshRows(request) : ModelRow(request);
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
  // A library that prints does not answer: its lines go to standard error.
  std::FILE* answers = ::fdopen(::dup(STDOUT_FILENO), "w");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  for (std::string line; std::getline(std::cin, line);) {
    std::fprintf(answers, "%s\n", trainbench::Answer(line).dump().c_str());
    std::fflush(answers);
  }
  trainbench::EndProcess(EXIT_SUCCESS);
}
