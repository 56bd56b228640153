// SPDX-License-Identifier: MIT

#include "model/ops/toy_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "model/nn/dtype.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

class ToyModelTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  ToyModelTest() { at::manual_seed(1); }
  at::ScalarType low() const { return GetParam(); }
  Dtypes Step() { return RunToyStep(model_, data_, low(), observer_); }

  ToyModel model_{20, 5, at::kCPU};
  ToyBatch data_ = RandomToyBatch(8, 20, 5, at::kCPU);
  NullObserver observer_;
};

TEST_P(ToyModelTest, TheCpuLeavesTheLayerNormNarrow) {
  const Dtypes expected = {
      {"parameters", at::kFloat}, {"fc1", low()},    {"relu", low()},
      {"layer_norm", low()},      {"logits", low()}, {"loss", at::kFloat},
      {"gradients", at::kFloat}};
  EXPECT_EQ(Step(), expected);
  EXPECT_EQ(DocumentedDtypes(low(), at::kCPU), expected);
}

TEST_P(ToyModelTest, CudaIsDocumentedToWidenTheLayerNorm) {
  const Dtypes cpu = DocumentedDtypes(low(), at::kCPU);
  const Dtypes cuda = DocumentedDtypes(low(), at::kCUDA);
  EXPECT_EQ(
      CompareDtypes(cpu, cuda).message(),
      "layer_norm is " + std::string(DtypeName(low())) + " instead of fp32");
}

TEST_P(ToyModelTest, ComparingNamesEveryDifference) {
  Dtypes found = DocumentedDtypes(low(), at::kCPU);
  EXPECT_TRUE(CompareDtypes(found, found).ok());
  const Dtypes expected = found;
  found[4].dtype = at::kDouble;
  found.pop_back();
  const absl::Status wrong = CompareDtypes(found, expected);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(wrong.message(), "logits is fp64 instead of " +
                                 std::string(DtypeName(low())) +
                                 ", gradients is missing instead of fp32");
}

TEST_P(ToyModelTest, AStepLeavesNoGradientsAndRepeats) {
  const Dtypes first = Step();
  for (const at::Tensor& parameter : model_->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
  EXPECT_EQ(Step(), first);
}

TEST_P(ToyModelTest, EveryParameterGetsTheGradientOfFloat64) {
  const auto gradients = [&](ToyModel model, const at::Tensor& x) {
    at::cross_entropy_loss(model(x).logits, data_.targets).backward();
    std::vector<at::Tensor> result;
    for (const at::Tensor& p : model->parameters()) result.push_back(p.grad());
    return result;
  };
  std::vector<at::Tensor> narrow;
  {
    const AutocastScope autocast(low(), at::kCPU);
    narrow = gradients(model_, data_.x);
  }
  model_->zero_grad();
  model_->to(at::kDouble);
  const auto wide = gradients(model_, data_.x.to(at::kDouble));
  ASSERT_EQ(narrow.size(), wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_LE(
        (narrow[i] - wide[i]).norm().item<double>(),
        (low() == at::kHalf ? 0.005 : 0.04) * wide[i].norm().item<double>())
        << i;
  }
}

TEST_P(ToyModelTest, WrongLogitsAreReported) {
  EXPECT_TRUE(CheckToyLogits(model_, data_.x, low()).ok())
      << CheckToyLogits(model_, data_.x, low());
  // Autocast goes on with its copy of the weights that were.
  const AutocastScope outer(low(), at::kCPU);
  model_(data_.x);
  {
    const at::NoGradGuard no_grad;
    model_->fc2->weight.mul_(2);
  }
  const absl::Status wrong = CheckToyLogits(model_, data_.x, low());
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(wrong.message()),
              testing::StartsWith("the logits miss float64 by 0.5"));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ToyModelTest,
                         testing::Values(at::kHalf, at::kBFloat16),
                         [](const auto& param) {
                           return std::string(DtypeName(param.param));
                         });

}  // namespace
}  // namespace trainbench
