// SPDX-License-Identifier: MIT

#include "model/accounting/component_traffic.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "model/accounting/attention_ops.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"

namespace trainbench {
namespace {

StepParams Small(int64_t batch = 4, Precision precision = Precision::kFp32) {
  return {*FindModel("small", StandardModels()), precision,
          StepMode::kTrainStep, batch, 128};
}

// Whose 12 heads of queries read 3 of keys and values.
StepParams Grouped(int64_t batch, Precision precision) {
  StepParams step = Small(batch, precision);
  step.model.kv_heads = 3;
  return step;
}

double Sum(const StepParams& step, Phase phase) {
  double bytes = 0;
  for (const Component component : kComponents) {
    bytes += TrafficOf(step, phase, component).compulsory_bytes;
  }
  return bytes;
}

// What a second batch does not move again: the parameters, each read once, and
// in the backward pass their gradients, each written once. Of the embedding a
// forward pass reads rows, as many as tokens, and a backward pass nothing.
TEST(ComponentTrafficTest, EachParameterIsMovedOnce) {
  for (const auto& [make, precision] : {std::pair(&Small, Precision::kFp32),
                                        {&Small, Precision::kTf32},
                                        {&Small, Precision::kBf16Autocast},
                                        {&Small, Precision::kBf16},
                                        {&Grouped, Precision::kFp32},
                                        {&Grouped, Precision::kBf16}}) {
    const StepParams one = make(1, precision), two = make(2, precision);
    const double p = precision == Precision::kBf16 ? 2 : 4;
    const auto fixed = [&](Phase phase) {
      return 2 * Sum(one, phase) - Sum(two, phase);
    };
    const auto all = static_cast<double>(ParameterCount(one.model));
    const double embedding = 10000 * 768;
    EXPECT_EQ(fixed(Phase::kForward), p * (all - embedding))
        << PrecisionName(precision);
    EXPECT_EQ(fixed(Phase::kBackward), p * (2 * all - embedding))
        << PrecisionName(precision);
    EXPECT_EQ(fixed(Phase::kLoss), 0) << PrecisionName(precision);
    EXPECT_EQ(Sum(one, Phase::kOptimizer),
              OptimizerBytes(one.model, precision));
  }
}

// The operators of attention alone move what attention_ops.h says. They know of
// no mask, which leaves i of a query's scores to the i-th.
TEST(ComponentTrafficTest, AttentionNeedsWhatItsOperatorsMoveUnmasked) {
  for (const bool bf16 : {false, true}) {
    const auto op = [&](AttentionOp part) {
      return 12 * AttentionOpBytes({part, 4, 12, 128, 64, bf16});
    };
    const double masked =
        12 * (bf16 ? 2 : 4) * 4 * 12 * (128.0 * 128 - 128 * 129 / 2);
    const StepParams step =
        Small(4, bf16 ? Precision::kBf16 : Precision::kFp32);
    const auto forward = [&](Component component) {
      return TrafficOf(step, Phase::kForward, component).compulsory_bytes;
    };
    EXPECT_EQ(forward(Component::kScores), op(AttentionOp::kQk) - masked);
    EXPECT_EQ(forward(Component::kSoftmax),
              op(AttentionOp::kSoftmaxFused) - 2 * masked);
    EXPECT_EQ(forward(Component::kValue), op(AttentionOp::kPv) - masked);
    EXPECT_EQ(TrafficOf(step, Phase::kForward, Component::kSoftmax).pass_bytes,
              op(AttentionOp::kSoftmaxFused));
  }
}

TEST(ComponentTrafficTest, TheBackwardPassOfAttentionNeedsNoMaskedScore) {
  const double queries = 4 * 128 * 768, scores = 4 * 12 * 128 * 129 / 2;
  const auto of = [](Component component) {
    return TrafficOf(Small(), Phase::kBackward, component);
  };
  EXPECT_EQ(of(Component::kScores).compulsory_bytes,
            12 * 4 * (4 * queries + scores));
  EXPECT_EQ(of(Component::kSoftmax).compulsory_bytes, 12 * 4 * 3 * scores);
  EXPECT_EQ(of(Component::kSoftmax).pass_bytes,
            12 * 4 * 3 * (4.0 * 12 * 128 * 128));
  EXPECT_EQ(of(Component::kValue).compulsory_bytes,
            12 * 4 * (3 * queries + 2 * scores));
}

TEST(ComponentTrafficTest, OnePassOverWhatIsNoProduct) {
  const double n = 4 * 128, d = 768, ff = 3072, layers = 12;
  const auto of = [](Phase phase, Component component) {
    return TrafficOf(Small(), phase, component);
  };
  using enum Phase;
  EXPECT_EQ(of(kForward, Component::kFfn).pass_bytes, layers * 3 * 4 * n * ff);
  EXPECT_EQ(of(kBackward, Component::kFfn).pass_bytes, layers * 5 * 4 * n * ff);
  EXPECT_EQ(of(kForward, Component::kFfn).compulsory_bytes,
            layers * 4 * (2 * n * d + 3 * d * ff));
  EXPECT_EQ(of(kForward, Component::kNorm).pass_bytes,
            25 * 4 * (2 * n * d + d));
  EXPECT_EQ(of(kBackward, Component::kNorm).pass_bytes,
            25 * 4 * (3 * n * d + 2 * d));
  EXPECT_EQ(of(kLoss, Component::kCrossEntropy).pass_bytes,
            n * (4 * 10000 + 8));
  EXPECT_EQ(of(kBackward, Component::kCrossEntropy).pass_bytes,
            2 * 4 * n * 10000);
  EXPECT_EQ(of(kForward, Component::kProjections).pass_bytes, 0);
  EXPECT_EQ(of(kForward, Component::kResidual).pass_bytes,
            layers * 2 * 3 * 4 * n * d);
  EXPECT_EQ(of(kBackward, Component::kResidual).compulsory_bytes, 0);
}

// Of a token, an activation of d, 768, counts 4, and the keys 1.
TEST(ComponentTrafficTest, FewerHeadsOfKeysAndValuesMoveLess) {
  const StepParams step = Grouped(4, Precision::kFp32);
  const double quarter = 12 * 4 * (4 * 128 * 768 / 4.0);
  const double scores = 12 * 4 * (4 * 12 * 128 * 129 / 2.0);
  const auto quarters = [&](Phase phase, Component component, double least) {
    return (TrafficOf(step, phase, component).compulsory_bytes - least) /
           quarter;
  };
  using enum Phase;
  EXPECT_EQ(quarters(kForward, Component::kRope, 0), 4 + 1 + 4 + 1);
  EXPECT_EQ(quarters(kForward, Component::kScores, scores), 4 + 1);
  EXPECT_EQ(quarters(kForward, Component::kValue, scores), 4 + 1);
  EXPECT_EQ(quarters(kForward, Component::kFusedAttention, 0), 4 + 1 + 1 + 4);
  EXPECT_EQ(quarters(kBackward, Component::kScores, scores), 2 * (4 + 1));
  EXPECT_EQ(quarters(kBackward, Component::kValue, 2 * scores), 4 + 1 + 1);
  EXPECT_EQ(quarters(kBackward, Component::kFusedAttention, 0),
            2 * (4 + 1 + 1) + 4);
}

TEST(ComponentTrafficTest, AutocastReadsWideWeightsAndNarrowActivations) {
  const double n = 4 * 128, d = 768;
  const auto traffic = TrafficOf(Small(4, Precision::kBf16Autocast),
                                 Phase::kForward, Component::kProjections);
  EXPECT_EQ(traffic.compulsory_bytes, 12 * (4 * 2 * n * d + 3 * 4 * d * d));
}

TEST(ComponentTrafficTest, AComponentOfAnotherPhaseMovesNothing) {
  using enum Phase;
  for (const auto& [phase, component] :
       {std::pair(kLoss, Component::kFfn),
        std::pair(kOptimizer, Component::kNorm),
        std::pair(kForward, Component::kOptimizer),
        std::pair(kForward, Component::kCrossEntropy),
        std::pair(kCommunication, Component::kFfn)}) {
    EXPECT_EQ(TrafficOf(Small(), phase, component).compulsory_bytes, 0)
        << PhaseName(phase) << " " << ComponentName(component);
  }
}

}  // namespace
}  // namespace trainbench
