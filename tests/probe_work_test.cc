// SPDX-License-Identifier: MIT

#include "model/probe_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <string>

#include "model/train_step.h"

namespace trainbench {
namespace {

using ::testing::HasSubstr;

TEST(ProbeWorkTest, ProductsOfEveryTypeAreRight) {
  at::manual_seed(1);
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    MatrixProduct product(48, 32, 64, at::dtype(dtype));
    EXPECT_TRUE(product.Verify().ok()) << product.Verify() << dtype;
  }
  EXPECT_TRUE(MatrixProduct(2, 3, 5, at::kFloat).Verify().ok());
}

TEST(ProbeWorkTest, AWrongProductIsFound) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({8, 16}), b = at::randn({16, 4});
  const at::Tensor c = at::mm(a, b);
  EXPECT_TRUE(VerifyProduct(a, b, c).ok());
  // One row in two is looked at.
  for (const at::Tensor& wrong : {c * 1.01, c.roll(1, 0), c * std::nan("")}) {
    EXPECT_THAT(std::string(VerifyProduct(a, b, wrong).message()),
                HasSubstr("differs from float64 by"));
  }
}

TEST(ProbeWorkTest, CopiesAreComplete) {
  EXPECT_TRUE(MemoryCopy(4096, at::kFloat).Verify().ok());
}

TEST(ProbeWorkTest, UpdatesAreUndone) {
  EXPECT_TRUE(MemoryUpdate(4096, at::kFloat).Verify().ok());
}

TEST(ProbeWorkTest, OperationsAreCounted) {
  EXPECT_TRUE(OpChain(1000, at::kFloat).Verify().ok());
  // bf16 cannot count that far: 256 + 1 is 256.
  EXPECT_THAT(std::string(OpChain(1000, at::kBFloat16).Verify().message()),
              HasSubstr("1000 additions of 1 to 0 gave 256"));
}

TEST(RandomizeGradientsTest, EveryParameterHasOneOfItsOwn) {
  TransformerLm model(
      ParseModel("name=n,d_model=8,d_ff=16,layers=1,heads=2,vocab=16").value(),
      at::kFloat);
  RandomizeGradients(model);
  for (const at::Tensor& parameter : Parameters(model)) {
    ASSERT_TRUE(parameter.grad().defined());
    EXPECT_FALSE(parameter.grad().requires_grad());
    EXPECT_GT(parameter.grad().abs().min().item<double>(), 0);
  }
}

}  // namespace
}  // namespace trainbench
