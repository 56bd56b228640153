// SPDX-License-Identifier: MIT
// Serves many requests of tools/plan in tests, loading LibTorch once. For each
// line, a JSON array of arguments, it prints [exit status, stdout, stderr].

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tools/planner/program.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::ostringstream out, err;
    const int status =
        trainbench::RunPlanner(nlohmann::json::parse(line), out, err);
    std::cout << nlohmann::json({status, out.str(), err.str()}) << std::endl;
  }
}
