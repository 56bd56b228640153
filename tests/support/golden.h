// SPDX-License-Identifier: MIT
// Holds what is printed to a file in tests/data/printed/program, as golden.py
// does for the tests in Python.

#ifndef TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_
#define TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/paths.h"

namespace trainbench {

// With TRAINBENCH_WRITE_GOLDENS=1 in the environment it writes the file.
inline void ExpectGolden(const std::string& name, const std::string& printed) {
  const std::string path = absl::StrCat(kTestData, "/printed/program/", name);
  if (std::getenv("TRAINBENCH_WRITE_GOLDENS") != nullptr) {
    std::ofstream(path) << printed;
  }
  std::ifstream file(path);
  EXPECT_EQ(printed, std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_
