// SPDX-License-Identifier: MIT

#include "fixtures/slowdown.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace trainbench {
namespace {

using Seconds = std::chrono::duration<double>;

TEST(SlowdownTest, TheCallTakesSoMuchLongerAtTheLeast) {
  Seconds alone = {};
  const auto call = Slowed(
      [&](PhaseObserver&) {
        const auto start = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        alone = std::chrono::steady_clock::now() - start;
      },
      0.5, [] {});
  NullObserver nobody;
  const auto start = std::chrono::steady_clock::now();
  call(nobody);
  const Seconds slowed = std::chrono::steady_clock::now() - start;
  EXPECT_GE(slowed.count(), 1.5 * alone.count());
}

TEST(SlowdownTest, WhatTheDeviceStillDoesIsPartOfTheCall) {
  std::string order;
  const auto call = Slowed([&](PhaseObserver&) { order += "call,"; }, 0.1,
                           [&] { order += "synchronize"; });
  NullObserver nobody;
  call(nobody);
  EXPECT_EQ(order, "call,synchronize");
}

}  // namespace
}  // namespace trainbench
