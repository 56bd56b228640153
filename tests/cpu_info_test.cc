// SPDX-License-Identifier: MIT

#include "fixtures/cpu_info.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace trainbench {
namespace {

TEST(CpuInfoTest, ValuesArePlausible) {
  const CpuInfo cpu = ReadCpuInfo();
  EXPECT_NE(cpu.model, "");
  EXPECT_GE(cpu.physical_cores, 1);
  EXPECT_LE(cpu.physical_cores,
            static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_GE(cpu.memory_bytes, int64_t{64} << 20);
  EXPECT_LT(cpu.memory_bytes, int64_t{1} << 50);
  EXPECT_GE(cpu.clock_mhz, 0);
  EXPECT_LT(cpu.clock_mhz, 20'000);
  // 0 where the system does not tell.
  EXPECT_GE(cpu.last_level_cache_bytes, 0);
  EXPECT_LT(cpu.last_level_cache_bytes, cpu.memory_bytes);
}

TEST(CpuInfoTest, NativeBf16FollowsTheFlags) {
  const CpuInfo cpu = ReadCpuInfo();
  EXPECT_EQ(cpu.native_bf16, cpu.flags.contains("avx512_bf16") ||
                                 cpu.flags.contains("amx_bf16"));
#ifdef __x86_64__
  EXPECT_TRUE(cpu.flags.contains("sse2")) << "every such CPU has it";
#endif
}

TEST(CpuInfoTest, OnlyCoresThatTheProcessMayUseCount) {
  cpu_set_t saved;
  ASSERT_EQ(sched_getaffinity(0, sizeof(saved), &saved), 0);
  int first = 0;
  while (!CPU_ISSET(first, &saved)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(ReadCpuInfo().physical_cores, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(saved), &saved), 0);
}

CpuInfo MakeCpu(std::set<std::string> flags) {
  CpuInfo cpu;
  cpu.flags = std::move(flags);
  cpu.physical_cores = 4;
  cpu.clock_mhz = 3000;
  return cpu;
}

TEST(CpuFlopsBoundTest, IsTwiceThePeakAtTheReportedClock) {
  // 4 cores at 3 GHz, with 32, 64 and 128 FLOP per cycle and a tile unit.
  EXPECT_DOUBLE_EQ(*CpuFlopsBound(MakeCpu({"avx2"})), 2 * 4 * 3e9 * 32);
  EXPECT_DOUBLE_EQ(*CpuFlopsBound(MakeCpu({"avx512f"})), 2 * 4 * 3e9 * 64);
  CpuInfo cpu = MakeCpu({"avx512f", "avx512_bf16"});
  cpu.native_bf16 = true;
  EXPECT_DOUBLE_EQ(*CpuFlopsBound(cpu), 2 * 4 * 3e9 * 128);
  cpu.flags.insert("amx_bf16");
  EXPECT_DOUBLE_EQ(*CpuFlopsBound(cpu), 2 * 4 * 3e9 * 2048);
}

TEST(CpuFlopsBoundTest, WithoutAClockThereIsNone) {
  CpuInfo cpu = MakeCpu({"avx2"});
  cpu.clock_mhz = 0;
  EXPECT_FALSE(CpuFlopsBound(cpu).has_value());
}

TEST(AvailableMemoryTest, IsPartOfTheInstalledMemory) {
  EXPECT_GT(AvailableMemoryBytes(), 0);
  EXPECT_LE(AvailableMemoryBytes(), ReadCpuInfo().memory_bytes);
}

}  // namespace
}  // namespace trainbench
