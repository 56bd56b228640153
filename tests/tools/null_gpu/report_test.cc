// SPDX-License-Identifier: MIT

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/null_gpu/fixture.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

class ReportTest : public NullGpuTest {
 protected:
  static nlohmann::json Json() {
    std::string text(trainbench_null_gpu_json(nullptr, 0), '\0');
    EXPECT_EQ(trainbench_null_gpu_json(text.data(), text.size() + 1),
              text.size());
    return nlohmann::json::parse(text);
  }
};

TEST_F(ReportTest, CountsSinceTheReset) {
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  trainbench_null_gpu_reset();
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto json = Json();
  EXPECT_EQ(json["counters"]["launches"], 2);
  EXPECT_EQ(json["counters"]["waits"], 1);
  ASSERT_EQ(json["kernels"].size(), 1);
  EXPECT_EQ(json["kernels"][0]["name"], "kernel()");
  EXPECT_EQ(json["kernels"][0]["launches"], 2);
  EXPECT_EQ(json["calls"]["cudaLaunchKernel"], 2);
  EXPECT_EQ(json["calls"]["cudaDeviceSynchronize"], 1);
  EXPECT_EQ(trainbench_null_gpu_count("launches"), 2);
}

TEST_F(ReportTest, FillsNoMoreThanThereIs) {
  char text[8] = "";
  EXPECT_GT(trainbench_null_gpu_json(text, sizeof(text)), 8);
  EXPECT_STREQ(text, "{\"pid\":");
}

TEST_F(ReportTest, ThePeakStartsAgainAtWhatIsTaken) {
  constexpr size_t kBytes = size_t{1} << 30;
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, kBytes), cudaSuccess);
  ASSERT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(Counted("peak_device_bytes"), Counted("device_bytes") + kBytes);
  trainbench_null_gpu_reset();
  EXPECT_EQ(Counted("peak_device_bytes"), Counted("device_bytes"));
}

}  // namespace
}  // namespace null_gpu
