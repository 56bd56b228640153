// SPDX-License-Identifier: MIT

#include "model/spec/implementation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainbench {
namespace {

using enum Implementation;

TEST(ImplementationTest, OnlyOurNormOnAGpuLimitsTheWidth) {
  EXPECT_EQ(ImplementationUnavailable(kFused, DeviceKind::kCuda, 8193),
            "on a GPU the fused implementation supports norms of at most 8192 "
            "columns; d_model is 8193; use textbook or library");
  EXPECT_EQ(ImplementationUnavailable(kFused, DeviceKind::kCuda, 8192), "");
  EXPECT_EQ(ImplementationUnavailable(kFused, DeviceKind::kCpu, 8193), "");
  EXPECT_EQ(ImplementationUnavailable(kLibrary, DeviceKind::kCuda, 8193), "");
}

}  // namespace
}  // namespace trainbench
