// SPDX-License-Identifier: MIT

#include "model/spec/cpu_allocator.h"

#include <gtest/gtest.h>

namespace trainbench {
namespace {

TEST(CpuAllocatorTest, HasNames) {
  EXPECT_EQ(CpuAllocatorName(CpuAllocator::kCaching), "caching");
  EXPECT_EQ(CpuAllocatorName(CpuAllocator::kSystem), "system");
}

}  // namespace
}  // namespace trainbench
