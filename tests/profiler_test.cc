// SPDX-License-Identifier: MIT

#include "fixtures/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixtures/range.h"
#include "fixtures/ranged_phases.h"

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using Kind = TraceEvent::Kind;

std::vector<TraceEvent> Named(const Trace& trace, const std::string& name) {
  std::vector<TraceEvent> found;
  for (const TraceEvent& event : trace.events) {
    if (event.name == name) found.push_back(event);
  }
  return found;
}

Trace ProfileCpu(const std::function<void()>& work) {
  auto trace = Profile(Device(), work);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : Trace();
}

bool Encloses(const TraceEvent& outer, const TraceEvent& inner) {
  return outer.thread == inner.thread && outer.start_ns <= inner.start_ns &&
         inner.end_ns() <= outer.end_ns();
}

class TraceFile {
 public:
  TraceFile()
      : path_((std::filesystem::temp_directory_path() /
               ("trainbench_trace_" + std::to_string(getpid()) + ".json"))
                  .string()) {}
  ~TraceFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ProfilerTest, CountsTheFlopsOfMatrixProductsExactly) {
  const Trace trace = ProfileCpu([] {
    at::mm(at::ones({3, 5}), at::ones({5, 7}));
    at::bmm(at::ones({2, 3, 5}), at::ones({2, 5, 7}));
    at::ones({64, 64}).mul(2);  // elementwise: none of ours
  });
  ASSERT_EQ(Named(trace, "aten::mm").size(), 1);
  EXPECT_EQ(Named(trace, "aten::mm")[0].flops, 2 * 3 * 5 * 7);
  ASSERT_EQ(Named(trace, "aten::bmm").size(), 1);
  EXPECT_EQ(Named(trace, "aten::bmm")[0].flops, 2 * 2 * 3 * 5 * 7);
  const auto elementwise = Named(trace, "aten::mul");
  ASSERT_FALSE(elementwise.empty());
  EXPECT_EQ(elementwise[0].flops, 0);
}

TEST(ProfilerTest, ABackwardOpHasTheNumberAndThreadOfItsForwardOp) {
  const at::Tensor w = at::ones({4, 4}).requires_grad_();
  const Trace trace = ProfileCpu([&] {
    at::ones({2, 4}).mm(w).exp().sum().backward();
  });
  const auto exp = Named(trace, "aten::exp");
  const auto node =
      Named(trace, "autograd::engine::evaluate_function: ExpBackward0");
  ASSERT_EQ(exp.size(), 1);
  ASSERT_EQ(node.size(), 1);
  EXPECT_GE(exp[0].sequence, 0);
  EXPECT_EQ(node[0].sequence, exp[0].sequence);
  EXPECT_EQ(node[0].forward_thread, exp[0].thread);
  EXPECT_FALSE(exp[0].is_backward);
  EXPECT_TRUE(node[0].is_backward);
  // The first product is the forward's, the second the weight's gradient.
  const auto products = Named(trace, "aten::mm");
  ASSERT_EQ(products.size(), 2);
  EXPECT_FALSE(products[0].is_backward);
  EXPECT_TRUE(products[1].is_backward);
}

TEST(ProfilerTest, ShowsRangesAndWhatTheyEnclose) {
  const Trace trace = ProfileCpu([] {
    const Range outer("outer");
    const Range inner("inner");
    at::ones({2}).neg();
  });
  const auto outer = Named(trace, "outer");
  const auto inner = Named(trace, "inner");
  const auto neg = Named(trace, "aten::neg");
  ASSERT_TRUE(outer.size() == 1 && inner.size() == 1 && neg.size() == 1);
  EXPECT_EQ(outer[0].kind, Kind::kRange);
  EXPECT_EQ(inner[0].kind, Kind::kRange);
  EXPECT_EQ(neg[0].kind, Kind::kOp);
  EXPECT_TRUE(Encloses(outer[0], inner[0]));
  EXPECT_TRUE(Encloses(inner[0], neg[0]));
}

TEST(ProfilerTest, ListsAnEnclosingEventFirst) {
  const Trace trace = ProfileCpu([] {
    const Range range("range");
    for (int i = 0; i < 20; ++i) at::linear(at::ones({2, 2}), at::ones({2, 2}));
  });
  ASSERT_GT(trace.events.size(), 40);
  EXPECT_EQ(trace.events[0].name, "range");
  EXPECT_TRUE(std::is_sorted(
      trace.events.begin(), trace.events.end(),
      [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; }));
  for (const TraceEvent& event : trace.events) EXPECT_NE(event.id, 0);
}

TEST(ProfilerTest, PhasesAreRanges) {
  const Trace trace = ProfileCpu([] {
    NullObserver nobody;
    RangedPhases phases(nobody);
    phases.Enter(Phase::kForward);
    at::ones({2}).neg();
    phases.Enter(Phase::kLoss);
    at::ones({2}).exp();
  });
  const auto forward = Named(trace, "forward");
  const auto loss = Named(trace, "loss");
  ASSERT_TRUE(forward.size() == 1 && loss.size() == 1);
  EXPECT_TRUE(Encloses(forward[0], Named(trace, "aten::neg")[0]));
  EXPECT_LE(forward[0].end_ns(), loss[0].start_ns);
  EXPECT_TRUE(Encloses(loss[0], Named(trace, "aten::exp")[0]));
}

TEST(ProfilerTest, WritesAChromeTrace) {
  const TraceFile file;
  // What was there before is replaced.
  std::ofstream(file.path()) << "old";
  ASSERT_TRUE(Profile(
                  Device(),
                  [] {
                    const Range range("a range");
                    at::ones({2}).neg();
                  },
                  file.path())
                  .ok());
  std::ifstream stream(file.path());
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  std::vector<std::string> names;
  for (const auto& event : json.at("traceEvents")) {
    names.push_back(event.value("name", ""));
  }
  EXPECT_THAT(names, Contains("aten::neg"));
  EXPECT_THAT(names, Contains("a range"));
}

TEST(ProfilerTest, APathThatCannotBeWrittenIsAnErrorBeforeTheWork) {
  bool ran = false;
  const auto trace = Profile(
      Device(), [&] { ran = true; }, "/nonexistent/dir/t.json");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(trace.status().message()),
              HasSubstr("/nonexistent/dir/t.json"));
  EXPECT_FALSE(ran);
}

TEST(ProfilerTest, ADiskThatFillsUpIsAnError) {
  const TraceFile file;
  // Stands for a full disk: files end at 100 bytes.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto trace = Profile(
      Device(), [] { at::ones({2}); }, file.path());
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(std::string(trace.status().message()), HasSubstr(file.path()));
}

TEST(ProfilerTest, RethrowsAndWorksAgain) {
  EXPECT_THROW((void)Profile(Device(), [] { throw std::runtime_error("no"); }),
               std::runtime_error);
  const Trace trace = ProfileCpu([] { at::ones({2}).neg(); });
  EXPECT_EQ(Named(trace, "aten::neg").size(), 1);
}

TEST(ProfilerTest, OnePassDoesNotShowTheOneBefore) {
  ProfileCpu([] { at::ones({2}).exp(); });
  const Trace trace = ProfileCpu([] { at::ones({2}).neg(); });
  EXPECT_TRUE(Named(trace, "aten::exp").empty());
}

}  // namespace
}  // namespace trainbench
