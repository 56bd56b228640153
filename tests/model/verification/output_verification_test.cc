// SPDX-License-Identifier: MIT
// The results of a timed step, checked after the timing.

#include <torch/types.h>

#include <string>

#include "model/spec/check_log.h"
#include "model/training/precision_scope.h"
#include "model/verification/verification.h"
#include "tests/model/training/small_model.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr int64_t kVocab = 100;

class VerifyOutputTest : public testing::Test {
 protected:
  static ModelConfig Config(int64_t heads = 4) {
    return {"m", 64, 160, 2, heads, kVocab, AttentionKind::kNaive};
  }
  static TransformerLm MakeModel() { return SeededModel(Config(), at::kFloat); }

  std::string Verify(StepMode mode, TransformerLm& model,
                     Precision precision = Precision::kFp32,
                     const AdamWOptions& options = {}) {
    const MatmulScope matmul(precision);
    AdamW optimizer(Parameters(model), AdamWKind::kFused, options);
    return std::string(
        VerifyOutput(mode, model, &optimizer, batch_, precision).message());
  }

  Batch batch_ = RandomBatch(kVocab, 3, 9, at::kCPU);
};

TEST_F(VerifyOutputTest, FindsAWrongResultInEveryMode) {
  for (const StepMode mode : kStepModes) {
    TransformerLm model = MakeModel();
    // The same weights, but split into a different number of heads.
    model->layers[1]->attn =
        Attention(Config(/*heads=*/2), at::TensorOptions());
    EXPECT_THAT(
        Verify(mode, model),
        AllOf(StartsWith(HasBackward(mode) ? "loss_error " : "logits_error "),
              EndsWith(" after the timing")));
  }
}

TEST_F(VerifyOutputTest, FindsATrainStepThatMovesNothing) {
  TransformerLm model = MakeModel();
  EXPECT_EQ(Verify(StepMode::kTrainStep, model, Precision::kFp32, {.lr = 0}),
            "a train step changed no weight");
}

// A step of 0.001 is less than half a unit in the last place of 1.
TEST_F(VerifyOutputTest, AStepThatBf16RoundsAwayIsNoWrongResult) {
  at::manual_seed(1);
  TransformerLm model(ModelConfig{"m", 2, 4, 1, 1, 2, AttentionKind::kNaive},
                      at::TensorOptions().dtype(at::kBFloat16));
  for (const at::Tensor& parameter : Parameters(model)) {
    parameter.detach().abs_().add_(1);
  }
  batch_ = RandomBatch(2, 3, 9, at::kCPU);
  std::string wrong;
  CheckLog log;
  EXPECT_EQ(log.Run([&] {
    wrong = Verify(StepMode::kTrainStep, model, Precision::kBf16);
    return absl::OkStatus();
  }),
            absl::OkStatus());
  EXPECT_EQ(wrong, "");
  EXPECT_THAT(log.words(),
              ElementsAre(Pair("weights", "unmoved: bf16 rounds a step away")));
}

}  // namespace
}  // namespace trainbench
