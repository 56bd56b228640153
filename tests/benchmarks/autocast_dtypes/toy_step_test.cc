// SPDX-License-Identifier: MIT

#include "benchmarks/autocast_dtypes/toy_step.h"

#include <torch/types.h>

#include <string>

#include "model/nn/autocast.h"
#include "model/nn/dtype.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

class ToyStepTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  ToyStepTest() { at::manual_seed(1); }
  at::ScalarType low() const { return GetParam(); }
  Dtypes Step() { return RunToyStep(model_, data_, low(), NoObserver()); }

  ToyModel model_{at::kCPU};
  ToyBatch data_ = RandomToyBatch(8, at::kCPU);
};

TEST_P(ToyStepTest, TheCpuLeavesTheLayerNormNarrow) {
  const Dtypes expected = {
      {"parameters", at::kFloat}, {"fc1", low()},    {"relu", low()},
      {"layer_norm", low()},      {"logits", low()}, {"loss", at::kFloat},
      {"gradients", at::kFloat}};
  EXPECT_EQ(Step(), expected);
  EXPECT_EQ(DocumentedDtypes(low(), at::kCPU), expected);
}

TEST_P(ToyStepTest, CudaIsDocumentedToWidenTheLayerNorm) {
  const Dtypes cpu = DocumentedDtypes(low(), at::kCPU);
  const Dtypes cuda = DocumentedDtypes(low(), at::kCUDA);
  EXPECT_EQ(
      CompareDtypes(cpu, cuda).message(),
      "layer_norm is " + std::string(DtypeName(low())) + " instead of fp32");
}

TEST_P(ToyStepTest, ComparingNamesEveryDifference) {
  Dtypes found = DocumentedDtypes(low(), at::kCPU);
  EXPECT_TRUE(CompareDtypes(found, found).ok());
  const Dtypes expected = found;
  found[4].dtype = at::kDouble;
  found[6].dtype = at::kHalf;
  EXPECT_EQ(CompareDtypes(found, expected),
            absl::FailedPreconditionError(
                "logits is fp64 instead of " + std::string(DtypeName(low())) +
                ", gradients is fp16 instead of fp32"));
}

TEST_P(ToyStepTest, AStepLeavesNoGradientsAndRepeats) {
  const Dtypes first = Step();
  for (const at::Tensor& parameter : model_->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
  EXPECT_EQ(Step(), first);
}

TEST_P(ToyStepTest, WrongLogitsAreReported) {
  EXPECT_EQ(CheckToyLogits(model_, data_.x, low()), absl::OkStatus());
  // Autocast keeps using its cached copy of the old weights.
  const AutocastScope outer(low(), at::kCPU);
  model_(data_.x);
  {
    const at::NoGradGuard no_grad;
    model_->fc2->weight.mul_(2);
  }
  const absl::Status wrong = CheckToyLogits(model_, data_.x, low());
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(wrong.message()), StartsWith("logits_error 0.5"));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ToyStepTest,
                         testing::Values(at::kHalf, at::kBFloat16),
                         [](const auto& param) {
                           return std::string(DtypeName(param.param));
                         });

}  // namespace
}  // namespace trainbench
