// SPDX-License-Identifier: MIT
// Compares the model with the results of an independent PyTorch model, see
// tests/data/make_goldens.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/types.h>

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace trainbench {
namespace {

// The same settings as in make_goldens.py.
constexpr int kSteps = 10;
constexpr AdamWOptions kAdamW = {1e-2, 0.9, 0.999, 1e-8, 0.01};

// The largest error relative to the largest magnitude in the expected tensor:
// an element that cancels to almost 0 keeps the absolute error of its summands.
//
// FP64: 1e-12 allows 9000 roundings (2^-53 each) in one direction, and hides no
// change of a formula.
// FP32: summing a dot product of at most 40 terms in another order changes it
// by a few 2^-24 = 6e-8; a dozen such products in sequence give 4e-6. After ten
// AdamW steps 2e-5: the update divides by the gradient's own magnitude, so the
// relative error of each gradient element, however small, becomes a weight
// change of that share of lr.
struct Tolerance {
  double step;
  double adamw;
};
Tolerance ToleranceOf(at::ScalarType dtype) {
  return dtype == at::kDouble ? Tolerance{1e-12, 1e-12} : Tolerance{4e-6, 2e-5};
}

void ExpectNear(const at::Tensor& actual, const at::Tensor& expected,
                double tolerance, const std::string& name) {
  ASSERT_TRUE(actual.defined()) << name;
  ASSERT_EQ(actual.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(actual.sizes(), expected.sizes()) << name;
  const double error =
      ((actual - expected).abs().max() / expected.abs().max()).item<double>();
  // Written so that a NaN fails.
  EXPECT_TRUE(error <= tolerance) << name << " is off by " << error;
}

// Returns a golden file: "config" and all tensors, by name.
c10::impl::GenericDict Load(const std::string& name) {
  const std::string bytes =
      ReadText(absl::StrCat(kTestData, "/golden_", name, ".pt"));
  return torch::jit::pickle_load({bytes.begin(), bytes.end()}).toGenericDict();
}

// Runs the architecture and dtype of the golden file.
class GoldenTest
    : public testing::TestWithParam<std::tuple<const char*, AttentionKind>> {
 protected:
  GoldenTest()
      : goldens_(Load(std::get<0>(GetParam()))),
        dtype_(Golden("logits").scalar_type()),
        tolerance_(ToleranceOf(dtype_)),
        model_(Config(), at::TensorOptions().dtype(dtype_)),
        batch_{Golden("tokens"), Golden("targets")} {
    const at::NoGradGuard no_grad;
    for (const auto& item : model_->named_parameters()) {
      item.value().copy_(Golden("param." + item.key()));
    }
  }

  at::Tensor Golden(const std::string& name) const {
    return goldens_.at(name).toTensor();
  }

  ModelConfig Config() const {
    return ParseModel(absl::StrCat("name=golden,attention=",
                                   AttentionName(std::get<1>(GetParam())), ",",
                                   goldens_.at("config").toStringRef()))
        .value();
  }

  at::Tensor ComputeLossAndGradients() {
    return ComputeGradients(model_, batch_, Precision::kFp32);
  }

  void ExpectAdamW(AdamWKind kind) {
    AdamW optimizer(Parameters(model_), kind, kAdamW);
    for (int step = 0; step < kSteps; ++step) {
      RunStep(StepMode::kTrainStep, model_, &optimizer, batch_,
              Precision::kFp32);
    }
    for (const auto& item : model_->named_parameters()) {
      ExpectNear(item.value().detach(), Golden("adamw10." + item.key()),
                 tolerance_.adamw, item.key());
    }
  }

  const c10::impl::GenericDict goldens_;
  at::ScalarType dtype_;
  Tolerance tolerance_;
  TransformerLm model_;
  Batch batch_;
};

TEST_P(GoldenTest, CoversEveryParameterOfTheModel) {
  std::size_t parameters = 0;
  for (const auto& item : goldens_) {
    if (item.key().toStringRef().starts_with("param.")) ++parameters;
  }
  EXPECT_EQ(parameters, model_->named_parameters().size());
}

TEST_P(GoldenTest, Logits) {
  for (const StepMode mode : {StepMode::kInference, StepMode::kForward}) {
    ExpectNear(RunStep(mode, model_, nullptr, batch_, Precision::kFp32),
               Golden("logits"), tolerance_.step,
               std::string(StepModeName(mode)));
  }
}

TEST_P(GoldenTest, LossAndAllGradients) {
  ExpectNear(ComputeLossAndGradients(), Golden("loss"), tolerance_.step,
             "loss");
  for (const auto& item : model_->named_parameters()) {
    ExpectNear(item.value().grad(), Golden("grad." + item.key()),
               tolerance_.step, item.key());
  }
}

TEST_P(GoldenTest, ParametersAfterTenStepsOfTextbookAdamW) {
  ExpectAdamW(AdamWKind::kTextbook);
}

TEST_P(GoldenTest, ParametersAfterTenStepsOfFusedAdamW) {
  ExpectAdamW(AdamWKind::kFused);
}

INSTANTIATE_TEST_SUITE_P(
    FileAndAttention, GoldenTest,
    testing::Combine(
        testing::Values("float32", "float64", "gpt_float64", "biased_float64"),
        testing::Values(AttentionKind::kNaive, AttentionKind::kSdpa)),
    [](const auto& param) {
      return std::string(std::get<0>(param.param)) + "_" +
             std::string(AttentionName(std::get<1>(param.param)));
    });

}  // namespace
}  // namespace trainbench
