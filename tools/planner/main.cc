// SPDX-License-Identifier: MIT

#include <iostream>

#include "fixtures/base/end_process.h"
#include "fixtures/base/file.h"
#include "tools/planner/program.h"

int main(int argc, char** argv) {
  trainbench::ReportFullFiles();
  trainbench::EndProcess(
      trainbench::RunPlanner({argv + 1, argv + argc}, std::cout, std::cerr));
}
