// SPDX-License-Identifier: MIT
// All implementations compute the same model.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>
#include <tuple>

#include "model/nn/dtype.h"
#include "model/training/adamw.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"
#include "model/verification/products.h"
#include "model/verification/relative_error.h"
#include "model/verification/verification.h"
#include "tests/model/training/small_model.h"
#include "tests/support/architectures.h"

namespace trainbench {
namespace {

constexpr AttentionKind kAttentions[] = {
    AttentionKind::kNaive, AttentionKind::kSdpa, AttentionKind::kOwn};

class ImplementationsTest
    : public testing::TestWithParam<
          std::tuple<Implementation, AttentionKind, Precision, Architecture>> {
 protected:
  static Precision precision() { return std::get<2>(GetParam()); }
  static ModelConfig In(const ModelConfig& config) {
    return std::get<3>(GetParam()).of(config);
  }
  static ModelConfig config() {
    return In(SmallConfig(std::get<0>(GetParam()), std::get<1>(GetParam())));
  }
  static double Tolerance() {
    return precision() == Precision::kFp32 ? 3e-6 : 4e-2;
  }

  const MatmulScope matmul_{precision()};
  TransformerLm model_ = SeededModel(config(), WeightType(precision()));
};

TEST_P(ImplementationsTest, LossAndEveryGradientEqualTheTextbookInFloat64) {
  TransformerLm wide = SeededModel(
      In(SmallConfig(Implementation::kTextbook, AttentionKind::kNaive)),
      at::kDouble);
  {
    const at::NoGradGuard no_grad;
    for (const auto& item : model_->named_parameters()) {
      if (item.key().ends_with(".bias")) item.value().uniform_(-0.5, 0.5);
      wide->named_parameters()[item.key()].copy_(item.value());
    }
  }
  at::manual_seed(2);
  const Batch batch = RandomBatch(90, 2, 11, at::kCPU);
  const at::Tensor loss = ComputeGradients(model_, batch, precision());
  const at::Tensor expected = ComputeGradients(wide, batch, Precision::kFp32);
  EXPECT_LE(RelativeError(loss, expected), Tolerance() / 4);
  for (const auto& item : model_->named_parameters()) {
    EXPECT_EQ(item.value().grad().scalar_type(), item.value().scalar_type());
    EXPECT_LE(RelativeError(item.value().grad(),
                            wide->named_parameters()[item.key()].grad()),
              Tolerance())
        << item.key();
  }
}

// After a train step, also the updated weights are those that are used.
TEST_P(ImplementationsTest, EveryModePassesTheChecksAroundTimings) {
  for (const StepMode mode : kStepModes) {
    AdamW optimizer(Parameters(model_), AdamWKind::kFused);
    EXPECT_EQ(VerifyStep(mode, model_, &optimizer, precision(), {2, 17}),
              absl::OkStatus())
        << StepModeName(mode);
    const Batch batch = RandomBatch(90, 2, 17, at::kCPU);
    EXPECT_EQ(VerifyOutput(mode, model_, &optimizer, batch, precision()),
              absl::OkStatus())
        << StepModeName(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , ImplementationsTest,
    testing::Combine(testing::ValuesIn(kImplementations),
                     testing::ValuesIn(kAttentions),
                     testing::Values(Precision::kFp32, Precision::kBf16Autocast,
                                     Precision::kBf16),
                     testing::ValuesIn(kArchitectures)),
    [](const auto& param) {
      return std::string(ImplementationName(std::get<0>(param.param))) + "_" +
             std::string(AttentionName(std::get<1>(param.param))) + "_" +
             std::string(PrecisionName(std::get<2>(param.param))) + "_" +
             std::get<3>(param.param).name;
    });

TEST(ImplementationStateTest, HasTheSameNamesShapesAndFirstValues) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const TransformerLm textbook = SeededModel(
        SmallConfig(Implementation::kTextbook, AttentionKind::kNaive), dtype);
    for (const Implementation implementation : kImplementations) {
      const TransformerLm model = SeededModel(
          SmallConfig(implementation, AttentionKind::kNaive), dtype);
      const auto expected = textbook->named_parameters();
      const auto actual = model->named_parameters();
      ASSERT_EQ(actual.keys(), expected.keys());
      for (const auto& item : expected) {
        EXPECT_TRUE(actual[item.key()].is_leaf() &&
                    actual[item.key()].requires_grad())
            << item.key();
        EXPECT_TRUE(actual[item.key()].equal(item.value())) << item.key();
      }
    }
  }
}

TEST(FusedImplementationTest, JoinsTheProductsThatShareAnInput) {
  const auto products = [](Implementation implementation) {
    TransformerLm model = SeededModel(
        SmallConfig(implementation, AttentionKind::kNaive), at::kFloat);
    return ForwardProducts(model, RandomBatch(90, 1, 5, at::kCPU),
                           Precision::kFp32)
        .by_type.at(at::kFloat);
  };
  // Per block q, k, v, scores, values, output, W1, W3 and W2; then the head.
  EXPECT_EQ(products(Implementation::kTextbook), 2 * 9 + 1);
  EXPECT_EQ(products(Implementation::kLibrary), 2 * 9 + 1);
  EXPECT_EQ(products(Implementation::kFused), 2 * 6 + 1);
}

// Updates of the weights must reach the joint products.
TEST(FusedImplementationTest, TheMatricesOfOneProductStayAdjacent) {
  TransformerLm model = SeededModel(
      SmallConfig(Implementation::kFused, AttentionKind::kNaive), at::kFloat);
  AdamW optimizer(Parameters(model), AdamWKind::kFused);
  const Batch batch = RandomBatch(90, 1, 5, at::kCPU);
  RunStep(StepMode::kTrainStep, model, &optimizer, batch, Precision::kFp32);
  const AttentionImpl& attention = *model->layers[0]->attn;
  const auto* const q = attention.q_proj->weight.const_data_ptr<float>();
  EXPECT_EQ(attention.k_proj->weight.const_data_ptr<float>(), q + 48 * 48);
  EXPECT_EQ(attention.v_proj->weight.const_data_ptr<float>(), q + 2 * 48 * 48);
  const FeedForwardImpl& ffn = *model->layers[0]->ffn;
  EXPECT_EQ(ffn.w3->weight.const_data_ptr<float>(),
            ffn.w1->weight.const_data_ptr<float>() + 48 * 100);
}

}  // namespace
}  // namespace trainbench
