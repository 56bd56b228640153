// SPDX-License-Identifier: MIT

#include "fixtures/datasheet.h"

#include <gtest/gtest.h>

namespace trainbench {
namespace {

TEST(DatasheetTest, KnownGpusHaveTheirDensePeaks) {
  EXPECT_EQ(DatasheetFlops("NVIDIA H200", Precision::kBf16), 989e12);
  EXPECT_EQ(DatasheetFlops("NVIDIA H100 80GB HBM3", Precision::kTf32),
            494.5e12);
  EXPECT_EQ(DatasheetFlops("NVIDIA H100 PCIe", Precision::kBf16Autocast),
            756e12);
  EXPECT_EQ(DatasheetFlops("NVIDIA A100-SXM4-80GB", Precision::kFp32), 19.5e12);
}

TEST(DatasheetTest, AnyOtherDeviceIsUnknown) {
  for (const char* name : {"NVIDIA H100 NVL", "NVIDIA GeForce RTX 4090",
                           "Intel(R) Xeon(R) Processor @ 2.80GHz", ""}) {
    EXPECT_FALSE(DatasheetFlops(name, Precision::kFp32).has_value()) << name;
  }
}

}  // namespace
}  // namespace trainbench
