// SPDX-License-Identifier: MIT

#include "model/verification/relative_error.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

namespace trainbench {
namespace {

TEST(RelativeErrorTest, IsOfTheWholeTensor) {
  const at::Tensor x = at::tensor({3.0, 4.0});
  EXPECT_DOUBLE_EQ(RelativeError(x * 1.5, x), 0.5);
  EXPECT_EQ(RelativeError(at::zeros({2}), at::zeros({2})), 0);
  EXPECT_TRUE(std::isnan(RelativeError(x * std::nan(""), x)));
}

TEST(RelativeErrorTest, OfSeveralTensorsIsThatOfOneVector) {
  const at::Tensor a = at::tensor({3.0F, 0.0F}), b = at::full({1}, 4.0F);
  EXPECT_EQ(RelativeError({a, b}, {a, b}), 0);
  // The error is (0, 1, 0) relative to (3, 0, 4).
  EXPECT_DOUBLE_EQ(RelativeError({at::tensor({3.0F, 1.0F}), b}, {a, b}), 0.2);
  EXPECT_DOUBLE_EQ(RelativeError({a, -b}, {a, b}), 1.6);
}

}  // namespace
}  // namespace trainbench
