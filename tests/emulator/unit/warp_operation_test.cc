// SPDX-License-Identifier: MIT

#include "tests/emulator/warp_operation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "tests/emulator/launcher.h"

namespace trainbench::emulator {
namespace {

TEST(Bf16Test, RoundsToNearestEven) {
  EXPECT_EQ(FromBf16(RoundToBf16(1)), 1);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 1.0f / 256)), 1);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 3.0f / 256)), 1 + 1.0f / 64);
  EXPECT_EQ(FromBf16(RoundToBf16(1 + 1.01f / 256)), 1 + 1.0f / 128);
  EXPECT_EQ(FromBf16(RoundToBf16(-2.5f)), -2.5f);
  EXPECT_TRUE(std::isnan(FromBf16(RoundToBf16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(FromBf16(RoundToBf16(3.4e38f))));
}

// Multiplies whole matrices, loaded from shared memory by ldmatrix as in the
// kernels: row-major A [16, 16]; B [16, 8] once by columns and once by rows.
struct ProductKernel {
  struct Args {
    const uint16_t* a;
    const uint16_t* b_columns;  // [8, 16]
    const uint16_t* b_rows;     // [16, 8]
    float* c;                   // two matrices [16, 8]
  };
  static constexpr int kMaxThreads = 32;
  static constexpr int kB = 2 * 16 * 16;

  static void Run(const Device& d, const Args& args) {
    const int lane = d.Thread();
    d.CopyAsync16(16 * lane, args.a + 8 * lane, true);
    const uint16_t* b = lane < 16 ? args.b_columns : args.b_rows;
    d.CopyAsync16(kB + 16 * lane, b + 8 * (lane % 16), true);
    d.Commit();
    d.Wait<0>();
    d.SyncBlock();
    uint32_t a[4];
    d.LoadMatrix4(a, lane % 16 * 32 + lane / 16 * 16);
    uint32_t columns[4];
    d.LoadMatrix4(columns, kB + lane % 8 * 32 + lane / 8 % 2 * 16);
    uint32_t rows[4];
    d.LoadMatrix4Transposed(rows, kB + 256 + lane % 16 * 16);
    for (int way = 0; way < 2; ++way) {
      const uint32_t(&b_pairs)[4] = way == 0 ? columns : rows;
      float c[4] = {1, 1, 1, 1};
      d.Mma(c, a, b_pairs[0], b_pairs[1]);
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8;
        d.Store(args.c + way * 128 + row * 8 + lane % 4 * 2 + i % 2, c[i]);
      }
    }
  }
};

TEST(WarpOperationTest, MultipliesWhatLdmatrixLoads) {
  std::mt19937 random(1);
  const auto number = [&] {
    return static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
  };
  alignas(16) uint16_t a[16 * 16];
  alignas(16) uint16_t columns[8 * 16];
  alignas(16) uint16_t rows[16 * 8];
  float c[2 * 16 * 8] = {};
  for (uint16_t& x : a) x = RoundToBf16(number());
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < 8; ++n) {
      columns[n * 16 + k] = rows[k * 8 + n] = RoundToBf16(number());
    }
  }
  GlobalMemory memory;
  memory.Allow(a, sizeof(a), 2, false);
  memory.Allow(columns, sizeof(columns), 2, false);
  memory.Allow(rows, sizeof(rows), 2, false);
  memory.Allow(c, sizeof(c), 4, true);
  Launcher launcher(&memory, 1);
  ASSERT_EQ(
      launcher.Launch<ProductKernel>({1, 32, 1024}, {a, columns, rows, c}), "");
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      double expected = 1;
      for (int k = 0; k < 16; ++k) {
        expected += FromBf16(a[m * 16 + k]) * FromBf16(rows[k * 8 + n]);
      }
      EXPECT_EQ(c[m * 8 + n], expected);
      EXPECT_EQ(c[128 + m * 8 + n], expected);
    }
  }
}

struct ShuffleKernel {
  using Args = float*;
  static constexpr int kMaxThreads = 32;
  static void Run(const Device& d, const Args& to) {
    d.Store(to + d.Thread(), d.ShuffleXor(static_cast<float>(d.Thread()), 5));
  }
};

TEST(WarpOperationTest, ShufflesByXor) {
  float to[32] = {};
  GlobalMemory memory;
  memory.Allow(to, sizeof(to), 4, true);
  Launcher launcher(&memory, 1);
  ASSERT_EQ(launcher.Launch<ShuffleKernel>({1, 32, 0}, to), "");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(to[i], i ^ 5);
}

}  // namespace
}  // namespace trainbench::emulator
