// SPDX-License-Identifier: MIT

#include "model/kernels/flash/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
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

// Products take probabilities in bf16, so gradients have larger errors.
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

// More than one tile of queries and of keys; the last tile is partial.
const Case kCases[] = {
    {1, 2, 150, 16, true, true},  {2, 1, 3, 32, true, false},
    {1, 1, 131, 32, false, true}, {1, 2, 65, 64, false, false},
    {1, 1, 140, 64, true, true},  {1, 1, 129, 128, true, false},
};

std::vector<Case> Cases() {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  Tensors dice(99);
  for (int i = 0; i < 4; ++i) {
    // A row with one key only has no gradient to compare with.
    cases.push_back({dice.Between(1, 2), dice.Between(1, 2),
                     dice.Between(3, 150), int64_t{16} << dice.Between(0, 3),
                     dice.Coin(), dice.Coin()});
  }
  return cases;
}

TEST(FlashKernels, AreRightInBf16) {
  uint32_t seed = 1;
  for (const Case& c : Cases()) Check<Bf16>(c, seed++);
}

TEST(FlashKernels, AreRightInFp32) {
  uint32_t seed = 101;
  for (const Case& c : Cases()) Check<float>(c, seed++);
}

TEST(FlashKernels, AttendToASingleKey) {
  Tensors t(1);
  Problem<float> problem(t, ShapeOf<float>({1, 2, 1, 16, true, false}), false);
  ASSERT_EQ(FlashForward(t.launcher(), problem.forward), "");
  EXPECT_LT(problem.ErrorOf(problem.forward.o, problem.reference().o), 1e-6);
  ASSERT_EQ(FlashBackward(t.launcher(), problem.backward), "");
  const auto* grad_q = static_cast<const float*>(problem.backward.grad_q.data);
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(grad_q[i], 0, 1e-5);
}

// The order of blocks and threads does not matter.
TEST(FlashKernels, BackwardWithoutASumGivesTheSameBits) {
  const Case c{1, 2, 140, 32, true, false};
  std::vector<uint16_t> bits[2];
  for (const uint64_t order : {0, 1}) {
    Tensors t(5);
    Problem<Bf16> problem(t, ShapeOf<Bf16>(c), c.joint);
    emulator::Launcher launcher(&t.memory(), order);
    ASSERT_EQ(FlashForward(launcher, problem.forward), "");
    FlashBackwardArgs& a = problem.backward;
    a.grad_q_sum = nullptr;
    ASSERT_EQ(FlashBackward(launcher, a), "");
    for (const HeadOutput& grad : {a.grad_q, a.grad_k, a.grad_v}) {
      const auto* begin = static_cast<const uint16_t*>(grad.data);
      bits[order].insert(bits[order].end(), begin, begin + problem.count());
    }
  }
  EXPECT_EQ(bits[0], bits[1]);
}

TEST(FlashKernels, RefuseWhatTheyCannotDo) {
  Tensors t(1);
  FlashForwardArgs a{};
  a.shape = {Dtype::kBfloat16, 1, 1, 8, 48, true, 1};
  EXPECT_EQ(FlashForward(t.launcher(), a), "d_head must be 16, 32, 64 or 128");
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
