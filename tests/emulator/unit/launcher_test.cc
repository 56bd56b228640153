// SPDX-License-Identifier: MIT

#include "tests/emulator/launcher.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
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

TEST_F(LauncherTest, RunsEachThreadOfEachBlock) {
  EXPECT_EQ(Run(
                [&](const Device& d) {
                  const int64_t i = d.Block() * d.Threads() + d.Thread();
                  d.Store(&numbers_[i], static_cast<float>(i + d.Blocks()));
                },
                3),
            "");
  for (int i = 0; i < 192; ++i) EXPECT_EQ(numbers_[i], i + 3);
}

TEST_F(LauncherTest, RefusesWhatAGpuWouldNotLaunch) {
  const auto nothing = [](const Device&) {};
  EXPECT_THAT(Run(nothing, 0), HasSubstr("number of blocks is 0"));
  EXPECT_THAT(Run(nothing, 1, 48), HasSubstr("number of threads is 48"));
  EXPECT_THAT(Run(nothing, 1, 160), HasSubstr("number of threads is 160"));
  EXPECT_THAT(Run(nothing, 1, 32, 300 << 10), HasSubstr("shared memory"));
}

TEST_F(LauncherTest, ABarrierOrdersTheBlocksSharedMemory) {
  const auto exchange = [](bool barrier) {
    return [barrier](const Device& d) {
      d.StoreShared(4 * d.Thread(), 1.0f);
      if (barrier) d.SyncBlock();
      d.LoadShared<float>(4 * (63 - d.Thread()));
    };
  };
  EXPECT_EQ(Run(exchange(true)), "");
  EXPECT_THAT(Run(exchange(false)), HasSubstr("another thread"));
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

TEST_F(LauncherTest, ACopyIsThereAfterItsWaitAndABarrier) {
  for (int i = 0; i < 8; ++i) numbers_[i] = static_cast<float>(i);
  float seen = 0;
  float filled = 1;
  const auto copy = [&](int groups_left, bool barrier) {
    return [&, groups_left, barrier](const Device& d) {
      if (d.Thread() == 0) {
        d.CopyAsync16(0, numbers_ + 4, true);
        d.Commit();
        d.CopyAsync16(16, numbers_, false);
        d.Commit();
        if (groups_left == 0) d.Wait<0>();
        if (groups_left == 1) d.Wait<1>();
        if (groups_left == 2) d.Wait<2>();
      }
      if (barrier) d.SyncBlock();
      if (d.Thread() == 40) {
        seen = d.LoadShared<float>(4);
        if (groups_left == 0) filled = d.LoadShared<float>(16);
      }
    };
  };
  EXPECT_EQ(Run(copy(1, true)), "");
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(Run(copy(0, true)), "");
  EXPECT_EQ(filled, 0);
  EXPECT_THAT(Run(copy(2, true)), HasSubstr("copy under way"));
  // The seed decides which of the two threads runs first.
  EXPECT_NE(Run(copy(1, false)), "");
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

// Multiplies whole matrices, loaded from shared memory by ldmatrix as in the
// kernels: row-major A [16, 16]; B [16, 8] once by columns and once by rows.
TEST_F(LauncherTest, MultipliesWhatLdmatrixLoads) {
  std::mt19937 random(1);
  const auto number = [&] {
    return static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
  };
  alignas(16) uint16_t a[16 * 16];
  alignas(16) uint16_t columns[8 * 16];
  alignas(16) uint16_t rows[16 * 8];
  for (uint16_t& x : a) x = RoundToBf16(number());
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < 8; ++n) {
      columns[n * 16 + k] = rows[k * 8 + n] = RoundToBf16(number());
    }
  }
  memory_.Allow(a, sizeof(a), 2, false);
  memory_.Allow(columns, sizeof(columns), 2, false);
  memory_.Allow(rows, sizeof(rows), 2, false);
  const auto multiply = [&](const Device& d) {
    constexpr int kB = 2 * 16 * 16;
    const int lane = d.Thread();
    d.CopyAsync16(16 * lane, a + 8 * lane, true);
    const uint16_t* b = lane < 16 ? columns : rows;
    d.CopyAsync16(kB + 16 * lane, b + 8 * (lane % 16), true);
    d.Commit();
    d.Wait<0>();
    d.SyncBlock();
    uint32_t a_pairs[4];
    d.LoadMatrix4(a_pairs, lane % 16 * 32 + lane / 16 * 16);
    uint32_t b_pairs[2][4];
    d.LoadMatrix4(b_pairs[0], kB + lane % 8 * 32 + lane / 8 % 2 * 16);
    d.LoadMatrix4Transposed(b_pairs[1], kB + 256 + lane % 16 * 16);
    for (int way = 0; way < 2; ++way) {
      float c[4] = {1, 1, 1, 1};
      d.Mma(c, a_pairs, b_pairs[way][0], b_pairs[way][1]);
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8;
        d.Store(numbers_ + way * 128 + row * 8 + lane % 4 * 2 + i % 2, c[i]);
      }
    }
  };
  ASSERT_EQ(Run(multiply, /*blocks=*/1, /*threads=*/32), "");
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      double expected = 1;
      for (int k = 0; k < 16; ++k) {
        expected += FromBf16(a[m * 16 + k]) * FromBf16(rows[k * 8 + n]);
      }
      EXPECT_EQ(numbers_[m * 8 + n], expected);
      EXPECT_EQ(numbers_[128 + m * 8 + n], expected);
    }
  }
}

TEST_F(LauncherTest, ShufflesByXor) {
  const auto shuffle = [&](const Device& d) {
    const auto mine = static_cast<float>(d.Thread());
    d.Store(&numbers_[d.Thread()], d.ShuffleXor(mine, 5));
  };
  ASSERT_EQ(Run(shuffle, /*blocks=*/1, /*threads=*/32), "");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(numbers_[i], i ^ 5);
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
