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

}  // namespace
}  // namespace trainbench
