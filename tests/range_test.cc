// SPDX-License-Identifier: MIT

#include "fixtures/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/types.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "fixtures/nvtx_bridge.h"

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

struct Span {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool is_user_scope = false;
};

// What a CPU profile of `work` shows.
std::map<std::string, Span> Profile(const std::function<void()>& work) {
  namespace profiler = torch::profiler::impl;
  namespace autograd = torch::autograd::profiler;
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  const std::set<profiler::ActivityType> activities = {
      profiler::ActivityType::CPU};
  autograd::prepareProfiler(config, activities);
  autograd::enableProfiler(config, activities);
  work();
  const auto result = autograd::disableProfiler();
  std::map<std::string, Span> spans;
  for (const autograd::KinetoEvent& event : result->events()) {
    spans[event.name()] = {
        static_cast<uint64_t>(event.startNs()),
        static_cast<uint64_t>(event.endNs()),
        event.scope() == static_cast<uint8_t>(at::RecordScope::USER_SCOPE)};
  }
  return spans;
}

TEST(RangeTest, AProfileShowsItAsAUserScope) {
  auto spans = Profile([] { const Range range("a case/batch:4"); });
  ASSERT_THAT(spans, Contains(Key("a case/batch:4")));
  EXPECT_TRUE(spans["a case/batch:4"].is_user_scope);
}

TEST(RangeTest, HoldsTheOperatorsInsideIt) {
  auto spans = Profile([] {
    at::zeros({2}).cos();
    {
      const Range outer("outer");
      const Range inner("inner");
      at::zeros({2}).neg();
    }
    at::zeros({2}).exp();
  });
  for (const char* name :
       {"aten::cos", "outer", "inner", "aten::neg", "aten::exp"}) {
    ASSERT_THAT(spans, Contains(Key(name)));
  }
  EXPECT_LE(spans["aten::cos"].end_ns, spans["outer"].begin_ns);
  EXPECT_LE(spans["outer"].begin_ns, spans["inner"].begin_ns);
  EXPECT_LE(spans["inner"].begin_ns, spans["aten::neg"].begin_ns);
  EXPECT_LE(spans["aten::neg"].end_ns, spans["inner"].end_ns);
  EXPECT_LE(spans["inner"].end_ns, spans["outer"].end_ns);
  EXPECT_LE(spans["outer"].end_ns, spans["aten::exp"].begin_ns);
}

TEST(RangeTest, WithoutAProfilerNothingHappens) {
  for (int i = 0; i < 1000; ++i) {
    const Range outer("outer");
    const Range inner(std::string(1000, 'x'));
  }
  std::thread([] { const Range range("another thread"); }).join();
  EXPECT_THAT(Profile([] {}), Not(Contains(Key("outer"))))
      << "ranges of before are in the profile";
}

TEST(RangeTest, NoScopeIsWatchedWithoutAnNvtxTool) {
  if (std::getenv("NVTX_INJECTION64_PATH") != nullptr) {
    GTEST_SKIP() << "an NVTX tool is attached";
  }
  EXPECT_FALSE(InstallNvtxBridge());
  EXPECT_FALSE(at::hasGlobalCallbacks());
}

TEST(RangeTest, OneThatOutlivesTheProfilerDoesNoHarm) {
  std::unique_ptr<Range> late;
  Profile([&] { late = std::make_unique<Range>("late"); });
  late.reset();
  const auto early = std::make_unique<Range>("early");
  EXPECT_THAT(Profile([] {}), Not(Contains(Key("early"))));
}

}  // namespace
}  // namespace trainbench
