// SPDX-License-Identifier: MIT

#include "model/kernels/flash/attention.h"

#include <gtest/gtest.h>

#include "model/kernels/flash/attention.cuh"
#include "tests/model/kernels/flash/problem.h"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

TEST(FlashKernels, AttendToASingleKey) {
  Tensors t(1);
  Problem<float> problem(t, {Dtype::kFloat32, 1, 2, 1, 16, true, 0.25f});
  ASSERT_EQ(FlashForward(t.launcher(), problem.forward), "");
  EXPECT_LT(problem.ErrorOf(problem.forward.o, problem.reference().o), 1e-6);
  ASSERT_EQ(FlashBackward(t.launcher(), problem.backward), "");
  const auto* grad_q = static_cast<const float*>(problem.backward.grad_q.data);
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(grad_q[i], 0, 1e-5);
}

template <class T>
void ExpectRight(const FlashShape& shape) {
  Tensors t(2);
  Problem<T> problem(t, shape);
  const Reference& r = problem.reference();
  const FlashBackwardArgs& a = problem.backward;
  ASSERT_EQ(FlashForward(t.launcher(), problem.forward), "");
  EXPECT_LT(problem.ErrorOf(problem.forward.o, r.o), kTolerance<T>);
  ASSERT_EQ(FlashBackward(t.launcher(), a), "");
  EXPECT_LT(problem.ErrorOf(a.grad_q, r.grad_q), 2 * kTolerance<T>);
  EXPECT_LT(problem.ErrorOf(a.grad_k, r.grad_k), 2 * kTolerance<T>);
  EXPECT_LT(problem.ErrorOf(a.grad_v, r.grad_v), 2 * kTolerance<T>);
}

TEST(FlashKernels, AttendToAllKeysWithoutAMask) {
  ExpectRight<Bf16>({Dtype::kBfloat16, 1, 2, 65, 64, false, 0.125f});
}

// Next to the rows' last channels there are other heads.
TEST(FlashKernels, HoldRowsInWiderTiles) {
  for (const int64_t d_head : {72, 120}) {
    ExpectRight<Bf16>({Dtype::kBfloat16, 1, 2, 67, d_head, true, 0.125f});
    ExpectRight<float>({Dtype::kFloat32, 1, 2, 67, d_head, true, 0.125f});
  }
}

TEST(FlashKernels, RefuseWhatTheyCannotDo) {
  Tensors t(1);
  FlashForwardArgs a{};
  a.shape = {Dtype::kBfloat16, 1, 1, 8, 48, true, 1};
  EXPECT_EQ(FlashForward(t.launcher(), a), kFlashHeads);
  a.shape.d_head = 64;
  a.k.strides.token = 68;
  EXPECT_EQ(FlashForward(t.launcher(), a), kFlashTensors);
  a.shape.scale = 0;
  EXPECT_EQ(FlashForward(t.launcher(), a), "scale must be positive");
  a.shape.seq = 0;
  EXPECT_EQ(
      FlashForward(t.launcher(), a),
      "batch times heads times seq must be in [1, 2^34), seq in [1, 2^30]");
  FlashBackwardArgs b{};
  b.shape = {Dtype::kFloat32, 1, 1, 8, 64, true, 1};
  b.grad_v.strides.head = 2;
  EXPECT_EQ(FlashBackward(t.launcher(), b), kFlashTensors);
}

}  // namespace
}  // namespace trainbench::kernels
