// SPDX-License-Identifier: MIT

#include "model/spec/cpu_allocator.h"

#include <gtest/gtest.h>

#include <string>

namespace trainbench {
namespace {

TEST(CpuAllocatorTest, NamesRoundTrip) {
  for (const CpuAllocator allocator : kCpuAllocators) {
    EXPECT_EQ(*ParseCpuAllocator(CpuAllocatorName(allocator)), allocator);
  }
  EXPECT_EQ(std::string(ParseCpuAllocator("jemalloc").status().message()),
            "--cpu_allocator is 'jemalloc'; allowed: caching, system");
}

}  // namespace
}  // namespace trainbench
