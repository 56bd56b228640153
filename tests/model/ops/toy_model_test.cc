// SPDX-License-Identifier: MIT

#include "model/ops/toy_model.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <vector>

#include "model/nn/autocast.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

void ExpectGradientsOfFloat64(at::ScalarType low) {
  SCOPED_TRACE(low);
  at::manual_seed(1);
  ToyModel toy(at::kCPU);
  const ToyBatch data = RandomToyBatch(8, at::kCPU);
  const auto gradients = [&](ToyModel model, const at::Tensor& x) {
    at::cross_entropy_loss(model(x).logits, data.targets).backward();
    std::vector<at::Tensor> result;
    for (const at::Tensor& p : model->parameters()) result.push_back(p.grad());
    return result;
  };
  std::vector<at::Tensor> narrow;
  {
    const AutocastScope autocast(low, at::kCPU);
    narrow = gradients(toy, data.x);
  }
  toy->zero_grad();
  toy->to(at::kDouble);
  const auto wide = gradients(toy, data.x.to(at::kDouble));
  ASSERT_EQ(narrow.size(), wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_LE(RelativeError(narrow[i], wide[i]),
              low == at::kHalf ? 0.005 : 0.04)
        << i;
  }
}

TEST(ToyModelTest, EveryParameterGetsTheGradientOfFloat64) {
  ExpectGradientsOfFloat64(at::kHalf);
  ExpectGradientsOfFloat64(at::kBFloat16);
}

}  // namespace
}  // namespace trainbench
