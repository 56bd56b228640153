// SPDX-License-Identifier: MIT

#include "fixtures/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "tests/fake_trace.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using enum Phase;
using Component::kFfn;
using Component::kLmHead;
using Component::kNorm;
using Component::kProjections;
using Component::kScores;
using Key = std::pair<Phase, Component>;

Attribution OfHost(const FakeTrace& trace) {
  return Attribute(trace.Sorted(), TimeOf::kHostOps);
}
Attribution OfDevice(const FakeTrace& trace) {
  return Attribute(trace.Sorted(), TimeOf::kDeviceWork);
}

// The time of each (phase, component).
std::map<Key, int64_t> Times(const Attribution& attribution) {
  std::map<Key, int64_t> times;
  for (const auto& [key, spent] : attribution.components) {
    times[key] = spent.time_ns;
  }
  return times;
}

int64_t Sum(const Attribution& attribution) {
  int64_t sum = attribution.unattributed.time_ns;
  for (const auto& [key, spent] : attribution.components) sum += spent.time_ns;
  return sum;
}

TEST(AttributionTest, AnEmptyTraceHasNoTime) {
  const Attribution nothing = OfHost(FakeTrace());
  EXPECT_THAT(nothing.components, IsEmpty());
  EXPECT_EQ(nothing.total_ns, 0);
  EXPECT_EQ(nothing.wall_ns, 0);
  EXPECT_EQ(nothing.unattributed_share(), 0);
}

TEST(AttributionTest, AnOpBelongsToTheInnermostRanges) {
  FakeTrace trace;
  trace.Range("a case/batch:4", 0, 100);
  trace.Range("forward", 0, 90);
  trace.Range("layer_2", 10, 80);
  trace.Range("ffn", 10, 70);
  trace.Op("aten::a", 10, 20);
  trace.Range("norm", 30, 60);
  trace.Op("aten::b", 30, 35);
  trace.Op("aten::c", 61, 68);  // ffn again
  const Attribution result = OfHost(trace);
  EXPECT_THAT(Times(result), ElementsAre(Pair(Key(kForward, kFfn), 17),
                                         Pair(Key(kForward, kNorm), 5)));
  EXPECT_EQ(result.layers.at({kForward, 2}).time_ns, 22);
  EXPECT_EQ(result.layers.at({kForward, 2}).calls, 3);
  EXPECT_EQ(result.unattributed.time_ns, 0);
  EXPECT_EQ(result.wall_ns, 100);
}

TEST(AttributionTest, NestedRangesOfOneNameCountOnce) {
  FakeTrace trace;
  trace.Range("forward", 0, 100);
  trace.Range("norm", 0, 50);
  trace.Range("norm", 10, 30);
  trace.Op("aten::a", 12, 20);
  trace.Op("aten::b", 35, 40);  // in the outer one only
  trace.Op("aten::c", 60, 61);  // in neither
  const Attribution result = OfHost(trace);
  EXPECT_THAT(Times(result), ElementsAre(Pair(Key(kForward, kNorm), 13)));
  EXPECT_EQ(result.unattributed.time_ns, 1);
  EXPECT_EQ(result.total_ns, 14);
}

TEST(AttributionTest, AnOpInsideAnotherIsNotCountedTwice) {
  FakeTrace trace;
  trace.Range("forward", 0, 100);
  trace.Range("lm_head", 0, 100);
  trace.Op("aten::linear", 10, 50);
  trace.Op("aten::matmul", 12, 48);
  trace.Op("aten::mm", 20, 40).flops = 64;
  trace.Op("aten::fill_", 22, 24);
  trace.Op("aten::neg", 50, 60);
  const Attribution result = OfHost(trace);
  const Spent& head = result.components.at({kForward, kLmHead});
  EXPECT_EQ(head.time_ns, 50);
  EXPECT_EQ(head.calls, 2);
  EXPECT_EQ(head.matmul_ns, 20);
  EXPECT_EQ(head.flops, 64);
  EXPECT_EQ(head.top_name, "aten::linear");
  EXPECT_EQ(head.top_calls, 1);
}

TEST(AttributionTest, AProductInsideAProductIsNotCountedTwice) {
  FakeTrace trace;
  trace.Range("forward", 0, 100);
  trace.Op("aten::baddbmm", 0, 50).flops = 64;
  trace.Op("aten::bmm", 10, 40).flops = 64;
  const Spent forward = OfHost(trace).phases.at(kForward);
  EXPECT_EQ(forward.flops, 64);
  EXPECT_EQ(forward.matmul_ns, 50);
}

TEST(AttributionTest, RangesOfAnotherThreadDoNotEnclose) {
  FakeTrace trace;
  trace.Range("forward", 0, 100, /*thread=*/1);
  trace.Range("ffn", 0, 100, /*thread=*/1);
  trace.Op("aten::a", 10, 20, -1, /*thread=*/2);
  const Attribution result = OfHost(trace);
  EXPECT_THAT(result.components, IsEmpty());
  EXPECT_EQ(result.unattributed.time_ns, 10);
  EXPECT_THAT(result.phases, IsEmpty());
}

// A forward pass of ffn in layer 0, then norm, with sequence numbers.
void AddForward(FakeTrace& trace) {
  trace.Range("forward", 0, 100);
  trace.Range("layer_0", 0, 60);
  trace.Range("ffn", 0, 60);
  trace.Op("aten::mm", 10, 30, /*sequence=*/5);    // id 1
  trace.Op("aten::silu", 40, 45, /*sequence=*/6);  // id 2
  trace.Range("norm", 60, 90);
  trace.Op("aten::pow", 70, 80, /*sequence=*/7);  // id 3
}

TEST(AttributionTest, ANodeBelongsToTheForwardOpThatMadeItOnAnyThread) {
  FakeTrace trace;
  AddForward(trace);
  trace.Range("backward", 100, 200);
  trace.Node("PowBackward0", 110, 120, 7, /*thread=*/2);
  trace.Node("SiluBackward0", 121, 124, 6, /*thread=*/2);
  trace.Node("MmBackward0", 130, 170, 5, /*thread=*/2);
  TraceEvent& product = trace.Op("aten::mm", 140, 165, -1, /*thread=*/2);
  product.is_backward = true;
  product.flops = 32;
  const Attribution result = OfHost(trace);
  EXPECT_THAT(Times(result), ElementsAre(Pair(Key(kForward, kFfn), 25),
                                         Pair(Key(kForward, kNorm), 10),
                                         Pair(Key(kBackward, kFfn), 43),
                                         Pair(Key(kBackward, kNorm), 10)));
  EXPECT_EQ(result.layers.at({kBackward, 0}).time_ns, 43);
  const Spent& ffn = result.components.at({kBackward, kFfn});
  EXPECT_EQ(ffn.matmul_ns, 25);
  EXPECT_EQ(ffn.flops, 32);
  EXPECT_EQ(ffn.top_name, "MmBackward0");
  EXPECT_EQ(result.unattributed.calls, 0);
}

TEST(AttributionTest, OfForwardOpsWithOneNumberTheLastMadeTheNode) {
  FakeTrace trace;
  trace.Range("forward", 0, 100);
  trace.Range("projections", 0, 50);
  // Made no node, so the number is still free.
  trace.Op("aten::size", 10, 20, /*sequence=*/5);
  trace.Range("scores", 50, 100);
  trace.Op("aten::matmul", 60, 90, /*sequence=*/5);
  trace.Op("aten::bmm", 65, 85, /*sequence=*/5);
  trace.Node("BmmBackward0", 110, 120, 5);
  const auto times = Times(OfHost(trace));
  EXPECT_EQ(times.at({kBackward, kScores}), 10);
  EXPECT_FALSE(times.contains({kBackward, kProjections}));
}

TEST(AttributionTest, GradientAccumulationFollowsTheNodeBeforeItOnItsThread) {
  FakeTrace trace;
  AddForward(trace);
  trace.Node("PowBackward0", 110, 120, 7, /*thread=*/2);
  trace.Node("SiluBackward0", 111, 114, 6, /*thread=*/3);
  trace.Node("AccumulateGrad", 120, 122, -1, /*thread=*/2);  // norm
  trace.Node("AccumulateGrad", 123, 126, -1, /*thread=*/3);  // ffn
  trace.Node("AccumulateGrad", 127, 131, -1, /*thread=*/4);  // whose?
  const Attribution result = OfHost(trace);
  EXPECT_EQ(Times(result).at({kBackward, kNorm}), 12);
  EXPECT_EQ(Times(result).at({kBackward, kFfn}), 6);
  EXPECT_EQ(result.unattributed.time_ns, 4);
  EXPECT_EQ(result.phases_unattributed.at(kBackward).time_ns, 4);
  EXPECT_EQ(result.phases.at(kBackward).time_ns, 22);
}

TEST(AttributionTest, ANodeWhoseForwardOpWasDroppedIsUnattributed) {
  FakeTrace trace;
  AddForward(trace);
  trace.Node("PowBackward0", 110, 120, 7);
  trace.Node("LostBackward0", 120, 125, 99);
  trace.Node("AccumulateGrad", 125, 127, -1);
  // The number of an op of another thread is another number.
  TraceEvent& stranger = trace.Node("MmBackward0", 130, 138, 5);
  stranger.forward_thread = 9;
  const Attribution result = OfHost(trace);
  EXPECT_EQ(Times(result).at({kBackward, kNorm}), 10);
  EXPECT_EQ(result.unattributed.time_ns, 5 + 2 + 8);
  EXPECT_EQ(result.total_ns, Sum(result));
}

TEST(AttributionTest, TheOptimizersRangeIsBothPhaseAndComponent) {
  FakeTrace trace;
  trace.Range("optimizer", 0, 50);
  trace.Range("optimizer", 5, 45);
  trace.Op("aten::_fused_adamw_", 10, 40);
  EXPECT_THAT(
      Times(OfHost(trace)),
      ElementsAre(Pair(Key(Phase::kOptimizer, Component::kOptimizer), 30)));
}

TEST(AttributionTest, AKernelThatEndsAfterItsRangeBelongsToItsLauncher) {
  FakeTrace trace;
  AddForward(trace);
  trace.Range("backward", 100, 110);
  trace.Node("MmBackward0", 101, 105, 5, /*thread=*/2);                 // id 4
  trace.Op("aten::mm", 102, 104, -1, /*thread=*/2).is_backward = true;  // id 5
  trace.Range("optimizer", 110, 120);
  // The device is behind: every kernel runs while another range is open.
  trace.Kernel("gemm", 95, 150, /*launcher=*/1);
  trace.Kernel("pow", 150, 160, /*launcher=*/3);
  trace.Kernel("gemm", 160, 300, /*launcher=*/5);
  const Attribution result = OfDevice(trace);
  EXPECT_THAT(Times(result), ElementsAre(Pair(Key(kForward, kFfn), 55),
                                         Pair(Key(kForward, kNorm), 10),
                                         Pair(Key(kBackward, kFfn), 140)));
  EXPECT_EQ(result.components.at({kForward, kFfn}).matmul_ns, 55);
  EXPECT_EQ(result.components.at({kForward, kNorm}).matmul_ns, 0);
  EXPECT_EQ(result.components.at({kBackward, kFfn}).matmul_ns, 140);
  EXPECT_EQ(result.layers.at({kBackward, 0}).time_ns, 140);
  EXPECT_EQ(result.total_ns, 205);
  EXPECT_EQ(result.wall_ns, 300);
}

TEST(AttributionTest, AKernelMayStartBeforeItsLauncherByTheDevicesClock) {
  FakeTrace trace;
  trace.Range("forward", 10, 100);
  trace.Range("ffn", 10, 100);
  trace.Op("aten::silu", 20, 30);
  trace.Kernel("silu", 5, 9, /*launcher=*/1);
  EXPECT_EQ(Times(OfDevice(trace)).at({kForward, kFfn}), 4);
}

TEST(AttributionTest, AKernelWithoutItsLauncherIsUnattributedNeverLost) {
  FakeTrace trace;
  AddForward(trace);
  trace.Kernel("gemm", 20, 50, /*launcher=*/1);
  trace.Kernel("dropped", 50, 57, /*launcher=*/99);
  trace.Kernel("unknown", 57, 60, /*launcher=*/0);
  const Attribution result = OfDevice(trace);
  EXPECT_EQ(result.total_ns, 40);
  EXPECT_EQ(result.unattributed.time_ns, 10);
  EXPECT_EQ(result.unattributed.calls, 2);
  EXPECT_EQ(result.unattributed.top_name, "dropped");
  EXPECT_DOUBLE_EQ(result.unattributed_share(), 0.25);
}

TEST(AttributionTest, OfDeviceWorkTheHostsTimeIsNoPart) {
  FakeTrace trace;
  AddForward(trace);
  const Attribution result = OfDevice(trace);
  EXPECT_EQ(result.total_ns, 0);
  EXPECT_EQ(OfHost(trace).total_ns, 35);
}

TEST(AttributionTest, FlopsOfAProductAreCountedOnceOnADeviceToo) {
  FakeTrace trace;
  trace.Range("forward", 0, 100);
  trace.Range("lm_head", 0, 100);
  trace.Op("aten::mm", 10, 30).flops = 64;
  trace.Kernel("gemm", 20, 50, /*launcher=*/1);
  trace.Kernel("splitk_reduce", 50, 60, /*launcher=*/1);
  const Spent head = OfDevice(trace).components.at({kForward, kLmHead});
  EXPECT_EQ(head.flops, 64);
  EXPECT_EQ(head.calls, 2);
  EXPECT_EQ(head.matmul_ns, 40);
}

TEST(AttributionTest, AShortNameIsOneWord) {
  EXPECT_EQ(ShortName("aten::mm"), "aten::mm");
  EXPECT_EQ(ShortName("Memset (Device)"), "Memset_");
  EXPECT_EQ(ShortName("void at::native::(anonymous namespace)::fill<float, 4>"
                      "(int, float*)"),
            "at::native::fill<float,_4>");
  EXPECT_EQ(ShortName(std::string(100, 'x')), std::string(60, 'x'));
}

TEST(AttributionTest, ComponentsAndTheUnattributedAddUpToTheTotal) {
  std::mt19937 random(1);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const char* const kNames[] = {"forward", "backward", "ffn",     "norm",
                                "layer_0", "aten::mm", "aten::a", "case"};
  for (int round = 0; round < 200; ++round) {
    FakeTrace trace;
    int64_t kernel_ns = 0;
    for (int i = 0; i < 40; ++i) {
      const int64_t start = below(1000), end = start + below(200);
      const auto thread = static_cast<uint64_t>(below(3) + 1);
      const std::string name = kNames[below(8)];
      if (i % 4 == 0) trace.Range(name, start, end, thread);
      if (i % 4 == 1) trace.Op(name, start, end, below(8) - 1, thread);
      if (i % 4 == 2) trace.Node(name, start, end, below(8) - 1, thread);
      if (i % 4 == 3) {
        trace.Kernel(name, start, end, static_cast<uint64_t>(below(25)));
        kernel_ns += end - start;
      }
    }
    const Attribution device = OfDevice(trace);
    EXPECT_EQ(Sum(device), device.total_ns);
    EXPECT_EQ(device.total_ns, kernel_ns);
    const Attribution host = OfHost(trace);
    EXPECT_EQ(Sum(host), host.total_ns);
    EXPECT_EQ(host.step.time_ns, host.total_ns);
    int64_t by_phase = 0;
    for (const auto& [phase, spent] : host.phases) by_phase += spent.time_ns;
    EXPECT_LE(by_phase, host.total_ns);
    EXPECT_GT(host.total_ns, 0);
  }
}

TEST(CheckAttributedTest, ToleratesTwoPercent) {
  Attribution step;
  step.total_ns = 10000;
  step.unattributed.time_ns = 200;
  step.unattributed.top_name = "aten::lost";
  EXPECT_TRUE(CheckAttributed(step).ok());
  step.unattributed.time_ns = 312;
  EXPECT_EQ(CheckAttributed(step).message(),
            "3.12 % of the step's time are not attributed, more than 2 %; most "
            "of it: aten::lost");
}

}  // namespace
}  // namespace trainbench
