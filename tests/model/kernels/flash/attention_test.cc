// SPDX-License-Identifier: MIT

#include "model/kernels/flash/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/kernels/flash/attention.cuh"
#include "tests/model/kernels/flash/problem.h"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

struct Case {
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
  bool causal;
  bool joint;
};

template <class T>
FlashShape ShapeOf(const Case& c) {
  return {kDtypeOf<T>,
          c.batch,
          c.heads,
          c.seq,
          c.d_head,
          c.causal,
          static_cast<float>(1 / std::sqrt(static_cast<double>(c.d_head)))};
}

// Probabilities are rounded to bf16 for products, so that gradients err more.
template <class T>
constexpr double kGradientTolerance = std::is_same_v<T, float> ? 4e-6 : 8e-3;

template <class T>
void Check(const Case& c, uint32_t seed) {
  SCOPED_TRACE(testing::Message()
               << c.batch << " x " << c.heads << " x " << c.seq << " x "
               << c.d_head << (c.causal ? " causal" : "")
               << (c.joint ? " joint" : ""));
  Tensors t(seed);
  Problem<T> problem(t, ShapeOf<T>(c), c.joint);
  const Reference& r = problem.reference();
  ASSERT_EQ(FlashForward(t.launcher(), problem.forward), "");
  EXPECT_LT(problem.ErrorOf(problem.forward.o, r.o), kTolerance<T>);
  EXPECT_LT(RelativeError(problem.forward.log_sum, r.log_sum), 2e-6);
  FlashBackwardArgs& a = problem.backward;
  float* const sum = a.grad_q_sum;
  for (const bool deterministic : {false, true}) {
    a.grad_q_sum = deterministic ? nullptr : sum;
    ASSERT_EQ(FlashBackward(t.launcher(), a), "");
    EXPECT_LT(problem.ErrorOf(a.grad_q, r.grad_q), kGradientTolerance<T>);
    EXPECT_LT(problem.ErrorOf(a.grad_k, r.grad_k), kGradientTolerance<T>);
    EXPECT_LT(problem.ErrorOf(a.grad_v, r.grad_v), kGradientTolerance<T>);
  }
  EXPECT_EQ(t.launcher().bank_conflicts(), 0);
}

// More than a tile of queries and of keys, and ragged.
const Case kCases[] = {
    {1, 2, 150, 16, true, true},    {1, 1, 131, 16, false, false},
    {2, 1, 3, 32, true, false},     {1, 2, 140, 32, true, true},
    {1, 1, 70, 32, false, true},    {1, 2, 65, 64, false, false},
    {1, 1, 200, 64, true, true},    {1, 1, 140, 128, true, true},
    {1, 1, 129, 128, false, false},
};

TEST(FlashKernels, AreRightInBf16) {
  uint32_t seed = 1;
  for (const Case& c : kCases) Check<Bf16>(c, seed++);
}

TEST(FlashKernels, AreRightInFp32) {
  uint32_t seed = 101;
  for (const Case& c : kCases) Check<float>(c, seed++);
}

}  // namespace
}  // namespace trainbench::kernels
