// SPDX-License-Identifier: MIT
// A model in which query heads share key/value heads equals a model in which
// every head has its own keys and values, some of them equal.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "model/verification/relative_error.h"
#include "model/verification/verification.h"
#include "tests/model/training/small_model.h"

namespace trainbench {
namespace {

constexpr int64_t kHeads = 6, kWidth = 8;  // per head

ModelConfig ConfigOf(Implementation implementation, AttentionKind attention,
                     int64_t kv_heads) {
  ModelConfig config = SmallConfig(implementation, attention);
  config.heads = kHeads;
  config.kv_heads = kv_heads;
  return config;
}

class GroupedQueryTest
    : public testing::TestWithParam<
          std::tuple<Implementation, AttentionKind, int64_t>> {
 protected:
  static int64_t kv_heads() { return std::get<2>(GetParam()); }
  static ModelConfig Config() { return std::apply(ConfigOf, GetParam()); }
  static at::ScalarType Dtype() { return WidestDtype(Config()); }
  static double Tolerance() { return RoundingOf(Dtype()); }

  static bool IsShared(const std::string& name) {
    return name.find("k_proj") != std::string::npos ||
           name.find("v_proj") != std::string::npos;
  }
  // [kv_heads d_head, d_model] -> [kv_heads, d_head, d_model].
  static at::Tensor ByHead(const at::Tensor& weight) {
    return weight.unflatten(0, {-1, kWidth});
  }

  // A float64 model with a copy of the keys and values for each query head.
  TransformerLm MakeWhole() const {
    TransformerLm whole = SeededModel(
        ConfigOf(Implementation::kTextbook, AttentionKind::kNaive, 0),
        at::kDouble);
    const at::NoGradGuard no_grad;
    const auto weights = whole->named_parameters();
    for (const auto& item : model_->named_parameters()) {
      const at::Tensor& from = item.value();
      weights[item.key()].copy_(
          IsShared(item.key()) ? ByHead(from)
                                     .repeat_interleave(kHeads / kv_heads(), 0)
                                     .flatten(0, 1)
                               : from);
    }
    return whole;
  }

  TransformerLm model_ = SeededModel(Config(), Dtype());
  Batch batch_ = RandomBatch(90, 2, 11, at::kCPU);
};

TEST_P(GroupedQueryTest, LogitsAndGradientsAreThoseOfRepeatedWeights) {
  TransformerLm whole = MakeWhole();
  EXPECT_EQ(model_->layers[0]->attn->k_proj->weight.size(0),
            kv_heads() * kWidth);
  {
    const at::NoGradGuard no_grad;
    EXPECT_LE(RelativeError(model_(batch_.tokens), whole(batch_.tokens)),
              Tolerance());
  }
  ComputeGradients(model_, batch_, Precision::kFp32, NoObserver());
  ComputeGradients(whole, batch_, Precision::kFp32, NoObserver());
  const auto expected = whole->named_parameters();
  for (const auto& item : model_->named_parameters()) {
    at::Tensor of_whole = expected[item.key()].grad();
    if (IsShared(item.key())) {
      // Sums over all heads that read the weight.
      of_whole =
          ByHead(of_whole).unflatten(0, {kv_heads(), -1}).sum(1).flatten(0, 1);
    }
    EXPECT_LE(RelativeError(item.value().grad(), of_whole), Tolerance())
        << item.key();
  }
}

TEST_P(GroupedQueryTest, RecomputedAttentionHasTheSameGradientsToTheBit) {
  ModelConfig config = Config();
  config.checkpointing = {Checkpointing::Kind::kAttention};
  TransformerLm again = SeededModel(config, Dtype());
  ComputeGradients(model_, batch_, Precision::kFp32, NoObserver());
  ComputeGradients(again, batch_, Precision::kFp32, NoObserver());
  const auto expected = model_->named_parameters();
  for (const auto& item : again->named_parameters()) {
    EXPECT_TRUE(item.value().grad().equal(expected[item.key()].grad()))
        << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(
    , GroupedQueryTest,
    testing::Values(
        std::tuple(Implementation::kTextbook, AttentionKind::kNaive, 2),
        std::tuple(Implementation::kTextbook, AttentionKind::kTiled, 3),
        std::tuple(Implementation::kLibrary, AttentionKind::kSdpa, 1),
        std::tuple(Implementation::kLibrary, AttentionKind::kSdpaMath, 2),
        std::tuple(Implementation::kLibrary, AttentionKind::kOwn, 3),
        std::tuple(Implementation::kFused, AttentionKind::kNaive, 3),
        std::tuple(Implementation::kFused, AttentionKind::kOwn, 2),
        std::tuple(Implementation::kFused, AttentionKind::kOwn, 1)),
    [](const auto& param) {
      return std::string(ImplementationName(std::get<0>(param.param))) + "_" +
             std::string(AttentionName(std::get<1>(param.param))) + "_" +
             std::to_string(std::get<2>(param.param));
    });

// Runs the check before timings in the precision with the fewest bits.
TEST(GroupedQueryStepTest, PassesTheCheckBeforeTimings) {
  for (const Implementation implementation : kImplementations) {
    TransformerLm model =
        SeededModel(ConfigOf(implementation, AttentionOf(implementation), 2),
                    at::kBFloat16);
    AdamW optimizer(Parameters(model), AdamWKind::kFused);
    EXPECT_EQ(VerifyStep(StepMode::kTrainStep, model, &optimizer,
                         Precision::kBf16, {2, 17}),
              absl::OkStatus())
        << ImplementationName(implementation);
  }
}

}  // namespace
}  // namespace trainbench
