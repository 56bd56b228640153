// SPDX-License-Identifier: MIT

#include "fixtures/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fixtures/cpu_info.h"
#include "fixtures/cuda_support.h"
#include "fixtures/steady_clock.h"

namespace trainbench {
namespace {

TEST(DeviceTest, TheCpuIsAlwaysThere) {
  const auto device = OpenDevice("cpu");
  ASSERT_TRUE(device.ok()) << device.status();
  const CpuInfo cpu = ReadCpuInfo();
  EXPECT_FALSE(device->is_cuda());
  EXPECT_TRUE(device->torch_device.is_cpu());
  EXPECT_EQ(device->name, cpu.model);
  EXPECT_EQ(device->memory_bytes, cpu.memory_bytes);
  EXPECT_EQ(device->cores, cpu.physical_cores);
  EXPECT_EQ(device->last_level_cache_bytes, cpu.last_level_cache_bytes);
  EXPECT_EQ(device->native_bf16, cpu.native_bf16);
  EXPECT_EQ(device->flops_bound.has_value(), device->clock_mhz > 0);
  if (device->flops_bound) {
    // Between a watch and a data centre.
    EXPECT_GT(*device->flops_bound, 1e9);
    EXPECT_LT(*device->flops_bound, 1e17);
  }
}

TEST(DeviceTest, FreeMemoryIsPartOfAll) {
  const Device device = *OpenDevice("cpu");
  EXPECT_GT(device.FreeBytes(), 0);
  EXPECT_LE(device.FreeBytes(), device.memory_bytes);
}

TEST(DeviceTest, TheCpuKeepsTimeByTheSteadyClock) {
  const Device device = *OpenDevice("cpu");
  const std::unique_ptr<Clock> clock = device.MakeClock();
  EXPECT_NE(dynamic_cast<SteadyClock*>(clock.get()), nullptr);
}

TEST(DeviceTest, WaitingAndReleasingDoNothingToAnIdleCpu) {
  const Device device = *OpenDevice("cpu");
  device.Synchronize();
  device.ReleaseUnusedMemory();
  EXPECT_GT(device.FreeBytes(), 0);
}

TEST(DeviceTest, AutoIsAGpuIfThereIsOne) {
  const auto device = OpenDevice("auto");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->is_cuda(), CudaDeviceCount() > 0);
}

TEST(DeviceTest, CudaNeedsAGpu) {
  const auto device = OpenDevice("cuda");
  if (CudaDeviceCount() > 0) {
    EXPECT_TRUE(device.ok()) << device.status();
    return;
  }
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(device.status().message()),
            "--device is cuda, but there is no usable GPU here; allowed here: "
            "auto, cpu");
}

}  // namespace
}  // namespace trainbench
