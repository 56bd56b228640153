// SPDX-License-Identifier: MIT
// A model with tied embeddings equals one with separate but equal weights for
// the head and the embeddings.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>

#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "model/verification/relative_error.h"
#include "model/verification/verification.h"
#include "tests/model/training/small_model.h"

namespace trainbench {
namespace {

constexpr char kEmbeddings[] = "token_embeddings.weight";

ModelConfig Tied(Implementation implementation) {
  ModelConfig config = SmallConfig(implementation, AttentionOf(implementation));
  config.tied_embeddings = true;
  return config;
}

class TiedEmbeddingsTest : public testing::TestWithParam<Implementation> {
 protected:
  static at::ScalarType Dtype() { return WidestDtype(Tied(GetParam())); }
  static double Tolerance() { return RoundingOf(Dtype()); }

  TransformerLm MakeUntied() const {
    ModelConfig config = Tied(Implementation::kTextbook);
    config.tied_embeddings = false;
    TransformerLm untied = SeededModel(config, at::kDouble);
    const at::NoGradGuard no_grad;
    const auto weights = untied->named_parameters();
    for (const auto& item : model_->named_parameters()) {
      weights[item.key()].copy_(item.value());
    }
    untied->lm_head->weight.copy_(model_->lm_head->weight);
    return untied;
  }

  TransformerLm model_ = SeededModel(Tied(GetParam()), Dtype());
  Batch batch_ = RandomBatch(90, 2, 11, at::kCPU);
};

TEST_P(TiedEmbeddingsTest, LogitsAndGradientsAreThoseOfEqualWeights) {
  TransformerLm untied = MakeUntied();
  {
    const at::NoGradGuard no_grad;
    EXPECT_LE(RelativeError(model_(batch_.tokens), untied(batch_.tokens)),
              Tolerance());
  }
  ComputeGradients(model_, batch_, Precision::kFp32, NoObserver());
  ComputeGradients(untied, batch_, Precision::kFp32, NoObserver());
  const auto expected = untied->named_parameters();
  for (const auto& item : model_->named_parameters()) {
    at::Tensor gradient = expected[item.key()].grad();
    if (item.key() == kEmbeddings) {
      gradient = gradient + untied->lm_head->weight.grad();
    }
    EXPECT_LE(RelativeError(item.value().grad(), gradient), Tolerance())
        << item.key();
  }
}

TEST_P(TiedEmbeddingsTest, TheSharedWeightIsListedOnceAndDrawnAsAHeads) {
  const auto parameters = model_->named_parameters();
  EXPECT_TRUE(parameters.contains(kEmbeddings));
  EXPECT_FALSE(parameters.contains("lm_head.weight"));
  ModelConfig config = Tied(GetParam());
  config.tied_embeddings = false;
  const TransformerLm untied = SeededModel(config, Dtype());
  EXPECT_TRUE(model_->lm_head->weight.equal(untied->lm_head->weight));
}

TEST_P(TiedEmbeddingsTest, PassesTheCheckBeforeTimings) {
  TransformerLm model = SeededModel(Tied(GetParam()), at::kBFloat16);
  AdamW optimizer(Parameters(model), AdamWKind::kFused);
  EXPECT_EQ(VerifyStep(StepMode::kTrainStep, model, &optimizer,
                       Precision::kBf16, {2, 17}),
            absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(, TiedEmbeddingsTest,
                         testing::ValuesIn(kImplementations),
                         [](const auto& param) {
                           return std::string(ImplementationName(param.param));
                         });

}  // namespace
}  // namespace trainbench
