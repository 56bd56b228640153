// SPDX-License-Identifier: MIT

#include "tests/emulator/launcher.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "tests/emulator/warp_operation.h"
#include "tests/support/matchers.h"

namespace trainbench::emulator {
namespace {

// Runs a function of the test as a kernel.
struct AnyKernel {
  using Args = std::function<void(const Device&)>;
  static constexpr int kMaxThreads = 128;
  static void Run(const Device& d, const Args& body) { body(d); }
};

class LauncherTest : public testing::Test {
 protected:
  LauncherTest() { memory_.Allow(numbers_, sizeof(numbers_), 4, true); }

  std::string Run(const AnyKernel::Args& body, int64_t blocks = 1,
                  int threads = 64, int shared_bytes = 1024) {
    return launcher_.Launch<AnyKernel>({blocks, threads, shared_bytes}, body);
  }

  alignas(16) float numbers_[256] = {};
  GlobalMemory memory_;
  Launcher launcher_{&memory_, 7};
};

TEST_F(LauncherTest, RefusesWhatAGpuWouldNotLaunch) {
  const auto nothing = [](const Device&) {};
  EXPECT_THAT(Run(nothing, 0), HasSubstr("number of blocks is 0"));
  EXPECT_THAT(Run(nothing, 1, 48), HasSubstr("number of threads is 48"));
  EXPECT_THAT(Run(nothing, 1, 160), HasSubstr("number of threads is 160"));
  EXPECT_THAT(Run(nothing, 1, 32, 300 << 10), HasSubstr("shared memory"));
}

TEST_F(LauncherTest, FindsAWriteOverWhatAnotherReads) {
  EXPECT_THAT(Run([](const Device& d) {
                if (d.Thread() == 0) d.StoreShared(0, 1.0f);
                d.SyncBlock();
                d.LoadShared<float>(0);
                if (d.Thread() == 0) d.StoreShared(0, 2.0f);
              }),
              HasSubstr("another thread"));
}

TEST_F(LauncherTest, ABarrierOfAWarpOrdersThatWarpOnly) {
  const auto read_of = [](int (*other)(int thread)) {
    return [other](const Device& d) {
      d.StoreShared(4 * d.Thread(), 1.0f);
      d.SyncWarp();
      d.LoadShared<float>(4 * other(d.Thread()));
    };
  };
  EXPECT_THAT(Run(read_of([](int thread) { return (thread + 1) % 64; })),
              HasSubstr("another thread"));
  EXPECT_EQ(Run(read_of([](int thread) { return thread ^ 1; })), "");
}

TEST_F(LauncherTest, FindsRacesBetweenBlocks) {
  const auto add = [&](const Device& d) { d.AtomicAdd(&numbers_[0], 1); };
  EXPECT_EQ(Run(add, 2), "");
  EXPECT_EQ(numbers_[0], 128);
  EXPECT_THAT(Run(
                  [&](const Device& d) {
                    if (d.Thread() == 0) d.Store(&numbers_[0], 1.0f);
                  },
                  2),
              HasSubstr("writes what another thread writes"));
  // There is no race with the preceding kernel.
  EXPECT_EQ(Run([&](const Device& d) { d.Load(&numbers_[0]); }), "");
  EXPECT_THAT(Run([&](const Device& d) {
                d.AtomicAdd(&numbers_[0], 1);
                d.Load(&numbers_[0]);
              }),
              HasSubstr("another thread"));
}

TEST_F(LauncherTest, FindsWhatLeavesMemory) {
  EXPECT_THAT(Run([&](const Device& d) { d.Load(&numbers_[256]); }),
              HasSubstr("leaves the tensors"));
  EXPECT_THAT(Run([](const Device& d) { d.LoadShared<float>(1024); }),
              HasSubstr("leaves shared memory"));
  EXPECT_THAT(Run([](const Device& d) { d.LoadShared<float>(2); }),
              HasSubstr("misaligned"));
  EXPECT_THAT(Run([&](const Device& d) {
                d.Load(reinterpret_cast<const kernels::Vector<float, 4>*>(
                    &numbers_[1]));
              }),
              HasSubstr("misaligned"));
  const float constant = 0;
  memory_.Allow(&constant, 4, 4, false);
  EXPECT_THAT(Run([&](const Device& d) {
                d.Store(const_cast<float*>(&constant), 1.0f);
              }),
              HasSubstr("writes an input"));
}

TEST_F(LauncherTest, SharedMemoryIsNotANumberAtFirst) {
  float first = 0;
  EXPECT_EQ(Run([&](const Device& d) {
              if (d.Thread() == 0) first = d.LoadShared<float>(8);
            }),
            "");
  EXPECT_TRUE(std::isnan(first));
}

TEST_F(LauncherTest, FindsThreadsThatDoNotMeet) {
  EXPECT_THAT(Run([](const Device& d) {
                if (d.Thread() != 3) d.SyncBlock();
              }),
              HasSubstr("wait for others"));
  EXPECT_THAT(Run([](const Device& d) {
                if (d.Thread() % 2 == 0) d.SyncWarp();
              }),
              HasSubstr("wait for others"));
  EXPECT_THAT(Run([](const Device& d) {
                if (d.Thread() % 2 == 0) {
                  d.SyncWarp();
                } else {
                  d.ShuffleXor(1, 1);
                }
              }),
              HasSubstr("another operation"));
}

TEST_F(LauncherTest, CountsConflictsOfBanks) {
  const auto load = [](int stride) {
    return [stride](const Device& d) {
      if (d.Thread() == 0) {
        for (int i = 0; i < 4096; i += 4) d.StoreShared(i, 0.0f);
      }
      d.SyncBlock();
      uint32_t r[4];
      d.LoadMatrix4(r, d.Thread() % 32 * stride);
    };
  };
  EXPECT_EQ(Run(load(16), 1, 32, 4096), "");
  EXPECT_EQ(launcher_.bank_conflicts(), 0);
  EXPECT_EQ(Run(load(128), 1, 32, 4096), "");
  EXPECT_EQ(launcher_.bank_conflicts(), 4);
}

TEST(Bf16Test, RoundsToNearestEven) {
  EXPECT_EQ(FromBf16(RoundToBf16(1)), 1);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 1.0f / 256)), 1);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 3.0f / 256)), 1 + 1.0f / 64);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 1.01f / 256)), 1 + 1.0f / 128);
  EXPECT_EQ(FromBf16(RoundToBf16(-2.5f)), -2.5f);
  EXPECT_TRUE(std::isnan(FromBf16(RoundToBf16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(FromBf16(RoundToBf16(3.4e38f))));
}

}  // namespace
}  // namespace trainbench::emulator
