// SPDX-License-Identifier: MIT

#include "benchmarks/peak/stream.h"

#include <torch/types.h>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr int64_t kLineBytes = 64;

// The sizes are one line, as many lines as threads, and a size that the threads
// cannot divide evenly.
TEST(StreamTest, EveryPassIsRight) {
  at::manual_seed(1);
  for (const StreamKernel kernel : StreamKernelName.values()) {
    for (const Stores stores : StoresName.values()) {
      for (const int64_t lines : {1, 2, 101}) {
        Stream stream(kernel, stores, lines * kLineBytes);
        EXPECT_EQ(stream.Verify(), absl::OkStatus())
            << StreamKernelName(kernel) << " " << StoresName(stores) << " "
            << lines;
      }
    }
  }
}

TEST(StreamTest, OrdinaryStoresLoadTheLinesThatTheyOverwrite) {
  const auto moves = [](StreamKernel kernel, Stores stores) {
    return StreamTraffic(kernel, stores, 100) / 100;
  };
  using enum StreamKernel;
  using enum Stores;
  EXPECT_EQ(moves(kCopy, kOrdinary), 3);
  EXPECT_EQ(moves(kCopy, kNonTemporal), 2);
  EXPECT_EQ(moves(kScale, kOrdinary), 3);
  EXPECT_EQ(moves(kAdd, kOrdinary), 4);
  EXPECT_EQ(moves(kTriad, kNonTemporal), 3);
  EXPECT_EQ(moves(kUpdate, kOrdinary), 2) << "it has loaded the line";
  EXPECT_EQ(moves(kUpdate, kNonTemporal), 2);
  EXPECT_EQ(moves(kRead, kOrdinary), 1);
}

}  // namespace
}  // namespace trainbench
