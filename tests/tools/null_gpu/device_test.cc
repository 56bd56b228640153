// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tests/tools/null_gpu/fixture.h"
#include "tools/null_gpu/core/profile.h"

namespace null_gpu {
namespace {

TEST(ProfileTest, HasTheBandwidthOfTheDataSheet) {
  struct Expected {
    std::string_view key;
    double terabytes_per_second;
  };
  for (const auto& [key, bandwidth] :
       {Expected{"h100", 3.35}, Expected{"h200", 4.8},
        Expected{"a100-40", 1.555}, Expected{"a100-80", 2.039},
        Expected{"b200", 8}}) {
    const auto* const profile =
        std::ranges::find(kProfiles, key, &Profile::key);
    ASSERT_NE(profile, std::end(kProfiles)) << key;
    const double rate =
        2e3 * profile->memory_clock_khz * profile->bus_bits / 8 / 1e12;
    EXPECT_NEAR(rate, bandwidth, 0.03 * bandwidth) << key;
  }
}

class DeviceTest : public NullGpuTest {};

TEST_F(DeviceTest, AttributesAndPropertiesAgree) {
  cudaDeviceProp properties = {};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount),
            properties.multiProcessorCount);
  EXPECT_EQ(attribute(cudaDevAttrL2CacheSize), properties.l2CacheSize);
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), properties.major);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            static_cast<int>(properties.sharedMemPerBlockOptin));
  EXPECT_EQ(attribute(cudaDevAttrPciBusId), 1);
  EXPECT_EQ(properties.pciBusID, 1);
  EXPECT_EQ(properties.totalGlobalMem, GetSettings().profile->memory_bytes);
}

TEST_F(DeviceTest, ThereIsOneUnlessMoreAreWanted) {
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

using DeviceDeathTest = DeviceTest;

TEST_F(DeviceDeathTest, AnUnknownAttributeIsNotGuessed) {
  int value = 0;
  EXPECT_DEATH((void)cudaDeviceGetAttribute(
                   &value, static_cast<cudaDeviceAttr>(9999), 0),
               "attribute 9999 is not modeled");
}

}  // namespace
}  // namespace null_gpu
