// SPDX-License-Identifier: MIT
// Compares output with a file in tests/data/printed/program, like golden.py for
// the tests in Python.

#ifndef TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_
#define TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace trainbench {

// Writes the file first if TRAINBENCH_WRITE_GOLDENS is in the environment.
inline void ExpectGolden(const std::string& name, const std::string& printed) {
  const std::string path = absl::StrCat(kTestData, "/printed/program/", name);
  if (std::getenv("TRAINBENCH_WRITE_GOLDENS") != nullptr) {
    std::ofstream(path) << printed;
  }
  EXPECT_EQ(printed, ReadText(path));
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_GOLDEN_H_
