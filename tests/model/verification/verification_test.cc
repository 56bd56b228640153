// SPDX-License-Identifier: MIT
// A check that accepts everything is useless: most of these tests break
// something and expect the check to find it.

#include "model/verification/verification.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <cmath>
#include <string>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/nn/dtype.h"
#include "model/training/precision_scope.h"
#include "model/verification/reference.h"
#include "model/verification/relative_error.h"
#include "tests/model/training/small_model.h"
#include "tests/support/architectures.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr BatchShape kShort = {.batch = 1, .seq = 16};

constexpr AdamWKind kVerifiedKinds[] = {AdamWKind::kTextbook,
                                        AdamWKind::kFused};

ModelConfig Config(AttentionKind attention = AttentionKind::kNaive) {
  return {"m", 64, 160, 2, 4, 100, attention};
}

// Returns the error that a check found, or "".
std::string ErrorIn(const absl::Status& status) {
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  }
  return std::string(status.message());
}

class VerificationTest : public testing::Test {
 protected:
  // The models are so small that a second thread only adds overhead.
  VerificationTest() { at::set_num_threads(1); }

  // Each returns the error found in a step, or "".
  std::string Wrong(StepMode mode, Precision precision = Precision::kFp32,
                    const BatchShape& shape = kShort) {
    const MatmulScope matmul(precision);
    return ErrorIn(VerifyStep(mode, model_, nullptr, precision, shape));
  }
  std::string WrongGradients(const BatchShape& shape = kShort) {
    return Wrong(StepMode::kForwardBackward, Precision::kFp32, shape);
  }
  std::string WrongTrainStep(AdamW& optimizer,
                             const BatchShape& shape = kShort) {
    return ErrorIn(VerifyStep(StepMode::kTrainStep, model_, &optimizer,
                              Precision::kFp32, shape));
  }

  TransformerLm model_ = SeededModel(Config(), at::kFloat);
};

// tests/model/training/implementations_test.cc has every mode and model.
TEST_F(VerificationTest, AcceptsBothOptimizersWithAnyOptions) {
  const AdamWOptions other = {.lr = 0.02,
                              .beta1 = 0.8,
                              .beta2 = 0.95,
                              .eps = 1e-5,
                              .weight_decay = 0.3};
  for (const AdamWKind kind : kVerifiedKinds) {
    for (const AdamWOptions& options : {AdamWOptions(), other}) {
      for (const Precision precision : kPrecisions) {
        const MatmulScope matmul(precision);
        TransformerLm model = SeededModel(Config(), WeightType(precision));
        AdamW optimizer(Parameters(model), kind, options);
        EXPECT_EQ(VerifyStep(StepMode::kTrainStep, model, &optimizer, precision,
                             kShort),
                  absl::OkStatus())
            << AdamWName(kind) << " " << PrecisionName(precision);
      }
    }
  }
}

TEST_F(VerificationTest, LeavesNoGradientsAndNoMemoryBehind) {
  AdamW optimizer(Parameters(model_), AdamWKind::kFused);
  const auto probe = MakeMemoryProbe(at::kCPU);
  for (const StepMode mode : kStepModes) {
    probe->Observe([&] {
      EXPECT_EQ(VerifyStep(mode, model_, &optimizer, Precision::kFp32, kShort),
                absl::OkStatus());
    });
    for (const at::Tensor& parameter : Parameters(model_)) {
      EXPECT_FALSE(parameter.grad().defined()) << StepModeName(mode);
    }
  }
  // The rotary tables of 16 positions, cosines and sines, per layer.
  EXPECT_EQ(probe->LiveBytes(), 2 * 2 * 16 * 8 * 4);
}

TEST_F(VerificationTest, OnlyATrainStepMovesTheWeights) {
  const at::Tensor before = model_->ln_final->weight.detach().clone();
  EXPECT_EQ(WrongGradients(), "");
  EXPECT_TRUE(model_->ln_final->weight.equal(before));
  AdamW optimizer(Parameters(model_), AdamWKind::kFused);
  EXPECT_EQ(WrongTrainStep(optimizer), "");
  EXPECT_FALSE(model_->ln_final->weight.equal(before));
}

TEST_F(VerificationTest, FindsAWrongForwardPass) {
  // The same weights, but split into a different number of heads.
  ModelConfig other = Config();
  other.heads = 2;
  model_->layers[1]->attn = Attention(other, at::TensorOptions());
  for (const StepMode mode : kStepModes) {
    EXPECT_THAT(Wrong(mode),
                AllOf(StartsWith("logits_error "), HasSubstr(" > 0.0001")));
  }
  // The check finds it even with the tolerance of the coarsest precision.
  EXPECT_NE(Wrong(StepMode::kInference, Precision::kBf16Autocast), "");
}

TEST_F(VerificationTest, AStepThatIsRunInAnotherWayIsLookedAt) {
  const auto verify = [&](const StepFunctions& functions) {
    return ErrorIn(VerifyStep(StepMode::kForwardBackward, model_, nullptr,
                              Precision::kFp32, kShort, functions));
  };
  const auto gradients = [&](const Batch& batch) {
    return ComputeGradients(model_, batch, Precision::kFp32);
  };
  const auto logits = [&](const at::Tensor& tokens) {
    const at::NoGradGuard no_grad;
    return model_(tokens);
  };
  EXPECT_EQ(verify({.logits = logits, .gradients = gradients}), "");
  EXPECT_THAT(verify({.logits =
                          [&](const at::Tensor& tokens) {
                            return 1.01 * logits(tokens);
                          }}),
              StartsWith("logits_error "));
  EXPECT_THAT(verify({.gradients =
                          [&](const Batch& batch) {
                            // Like a program that confuses targets and tokens.
                            return gradients({batch.targets, batch.targets});
                          }}),
              StartsWith("gradient_error "));
}

TEST_F(VerificationTest, FindsALowerPrecisionThanIsClaimed) {
  model_ = SeededModel(Config(), at::kBFloat16);
  EXPECT_NE(Wrong(StepMode::kInference, Precision::kFp32), "");
  EXPECT_EQ(Wrong(StepMode::kInference, Precision::kBf16), "");
}

// The logits are more accurate than the tolerance of bf16 requires.
TEST_F(VerificationTest, FindsAHigherPrecisionThanIsClaimed) {
  for (const Precision precision :
       {Precision::kBf16, Precision::kBf16Autocast}) {
    model_ = SeededModel(
        Config(), precision == Precision::kBf16 ? at::kFloat : at::kDouble);
    EXPECT_THAT(Wrong(StepMode::kInference, precision),
                HasSubstr("but no matrix product has operands of bf16"));
  }
}

TEST_F(VerificationTest, FindsNanAndInfinity) {
  const at::NoGradGuard no_grad;
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    model_ = SeededModel(Config(), at::kFloat);
    model_->layers[0]->ffn->w1->weight[3][5] = bad;
    EXPECT_THAT(Wrong(StepMode::kInference),
                MatchesRegex("logits_error -?nan > 0.0001"));
  }
}

// A gradient that misses a part has the length that its slope predicts.
TEST_F(VerificationTest, FindsAWrongGradientOfAnyParameter) {
  using at::Tensor;
  struct Fault {
    const char* name;
    Tensor (*change)(const Tensor& gradient);
    bool in_norms = true;
  };
  const Fault faults[] = {
      // Norms add little error.
      {"scaled", [](const Tensor& x) { return x * 1.05; }, /*in_norms=*/false},
      {"missing", [](const Tensor& x) { return at::zeros_like(x); }},
      {"half",
       [](const Tensor& x) {
         Tensor half = x.clone();
         half.narrow(0, 0, x.size(0) / 2).zero_();
         return half;
       }},
      {"negative", [](const Tensor& x) { return -x; }},
      {"nan", [](const Tensor& x) { return x * std::nan(""); }}};
  for (const Fault& fault : faults) {
    for (const auto& item : model_->named_parameters()) {
      if (item.value().dim() < 2 && !fault.in_norms) continue;
      const auto hook = item.value().register_hook(fault.change);
      EXPECT_THAT(WrongGradients(),
                  AllOf(StartsWith("gradient_error "), HasSubstr(" > 0.001")))
          << fault.name << " " << item.key();
      item.value().remove_hook(hook);
    }
  }
  EXPECT_EQ(WrongGradients(), "") << "not because of a hook";
}

TEST_F(VerificationTest, AcceptsAnyShape) {
  for (const BatchShape& shape :
       {BatchShape{1, 1}, BatchShape{2, 9}, BatchShape{5, 33}}) {
    AdamW optimizer(Parameters(model_), AdamWKind::kFused);
    EXPECT_EQ(WrongTrainStep(optimizer, shape), "")
        << shape.batch << " x " << shape.seq;
  }
}

TEST_F(VerificationTest, FindsAParameterOutsideOfTheGraph) {
  model_->lm_head->weight.set_requires_grad(false);
  EXPECT_EQ(WrongGradients(), "a parameter has no gradient");
  // Without a backward pass gradients do not matter.
  EXPECT_EQ(Wrong(StepMode::kInference), "");
  EXPECT_EQ(Wrong(StepMode::kForward), "");
}

TEST_F(VerificationTest, FindsAnOptimizerThatHasSteppedBefore) {
  for (const AdamWKind kind : kVerifiedKinds) {
    AdamW optimizer(Parameters(model_), kind);
    EXPECT_EQ(WrongTrainStep(optimizer), "");
    EXPECT_THAT(WrongTrainStep(optimizer), StartsWith("update_error"));
  }
}

TEST_F(VerificationTest, FindsAnOptimizerOfOtherParameters) {
  AdamW optimizer({model_->lm_head->weight}, AdamWKind::kFused);
  EXPECT_NE(WrongTrainStep(optimizer), "");
}

TEST_F(VerificationTest, TheReferenceIsTheModelInFloat64) {
  std::vector<ModelConfig> configs = {
      Config(),         Config(AttentionKind::kSdpa), Gpt(Config()),
      Biased(Config()), GateBiased(Config()),         Tied(Config())};
  for (const int64_t kv_heads : {1, 2}) {
    configs.push_back(Config());
    configs.back().kv_heads = kv_heads;
  }
  for (const ModelConfig& config : configs) {
    model_ = SeededModel(config, at::kDouble);
    for (const int64_t seq : {9, 600}) {
      if (!SeqUnavailable(config, seq).empty()) continue;
      const at::Tensor tokens = RandomBatch(100, 2, seq, at::kCPU).tokens;
      const at::Tensor reference = ReferenceLogits(model_, tokens);
      EXPECT_EQ(reference.sizes(), at::IntArrayRef({2, seq, 100}));
      EXPECT_EQ(reference.scalar_type(), at::kDouble);
      EXPECT_FALSE(reference.requires_grad());
      EXPECT_LT(RelativeError(model_(tokens), reference), 1e-12);
    }
  }
}

TEST_F(VerificationTest, AlongTheGradientIsAModelThatMoved) {
  model_ = SeededModel(Config(), at::kDouble);
  const Batch batch = RandomBatch(100, 2, 9, at::kCPU);
  ComputeGradients(model_, batch, Precision::kFp32);
  const double step = 0.3;
  const at::Tensor along = ReferenceLogits(model_, batch.tokens, step);
  const at::Tensor here = ReferenceLogits(model_, batch.tokens);
  EXPECT_LT(RelativeError(model_(batch.tokens), here), 1e-12)
      << "weights changed";
  {
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : Parameters(model_)) {
      parameter.add_(parameter.grad(), step);
    }
  }
  EXPECT_LT(RelativeError(model_(batch.tokens), along), 1e-12);
  EXPECT_GT(RelativeError(here, along), 1e-4)
      << "the step was too small to be seen";
}

}  // namespace
}  // namespace trainbench
