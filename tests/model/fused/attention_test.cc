// SPDX-License-Identifier: MIT
// Our attention kernel compared with attention in float64.

#include "model/fused/attention.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>

#include "model/kernels/flash/attention.cuh"
#include "model/spec/attention_variant.h"
#include "model/verification/relative_error.h"
#include "tests/model/fused/comparison.h"
#include "tests/model/fused/formulas.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// The largest of the kernels of both passes and types.
template <int head>
constexpr int64_t SharedBytes() {
  return std::max({kernels::FlashBf16Forward<head>::kSharedBytes,
                   kernels::FlashBf16Backward<head>::kSharedBytes,
                   kernels::FlashFp32Forward<head>::kSharedBytes,
                   kernels::FlashFp32Backward<head>::kSharedBytes});
}

TEST(FusedAttentionTest, TheRegistryKnowsTheSharedMemoryOfTheGpusKernels) {
  const AttentionVariant& own = VariantOf(AttentionKind::kOwn);
  EXPECT_THAT(own.cuda_d_heads, ElementsAre(16, 32, 64, 128));
  EXPECT_THAT(own.cuda_shared_bytes,
              ElementsAre(SharedBytes<16>(), SharedBytes<32>(),
                          SharedBytes<64>(), SharedBytes<128>()));
  for (int64_t d_head = 1; d_head < 300; ++d_head) {
    const std::string why = AttentionUnavailable(
        AttentionKind::kOwn, DeviceKind::kCuda, /*bf16=*/true, d_head);
    EXPECT_EQ(why.empty(), kernels::IsFlashHead(d_head)) << d_head;
  }
}

struct Shape {
  int64_t batch, heads, seq, d_head;
};

// Tiles have 64 queries and keys, 128 above 512 tokens; groups have 4 tiles.
const Shape kShapes[] = {{1, 1, 2, 16},   {2, 3, 47, 10},  {1, 2, 65, 33},
                         {1, 3, 130, 64}, {1, 1, 300, 16}, {2, 1, 641, 128}};

// q, v and the output's gradient are views, like a model's split heads.
Tensors InputsOf(const Shape& s, at::ScalarType type) {
  Tensors inputs = RandomAttention({s.batch, s.seq, s.heads, s.d_head}, type);
  for (at::Tensor& x : inputs) x = x.transpose(1, 2);
  inputs[1] = inputs[1].contiguous();
  return inputs;
}

void ExpectRight(const Shape& s, at::ScalarType type) {
  static const FusedDevice kCpu = CpuWith(
      [](at::ScalarType dtype) { return dtype == at::kFloat ? 2e-6 : 1e-2; });
  ExpectFormula(kCpu, AttentionCase("own", FusedAttention, InputsOf(s, type)));
}

TEST(FusedAttentionTest, IsTheFormulaInFloat64ForwardAndBackward) {
  for (const Shape& shape : kShapes) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      ExpectRight(shape, type);
    }
  }
}

TEST(FusedAttentionTest, AnyNumberOfThreadsIsRight) {
  for (const int threads : {2, 5}) {
    at::set_num_threads(threads);
    for (const Shape& shape : {kShapes[1], kShapes[5]}) {
      ExpectRight(shape, at::kFloat);
    }
  }
  at::set_num_threads(1);
}

TEST(FusedAttentionTest, WidensBf16WhereTheCpuCannotMultiplyIt) {
  at::globalContext().setUserEnabledMkldnn(false);
  ExpectRight(kShapes[1], at::kBFloat16);
  ExpectRight(kShapes[5], at::kBFloat16);
  at::globalContext().setUserEnabledMkldnn(true);
}

TEST(FusedAttentionTest, TwoCallsAreEqualBitByBit) {
  at::set_num_threads(3);
  const Tensors inputs = InputsOf({1, 2, 641, 16}, at::kFloat);
  const Tensors qkv(inputs.begin(), inputs.begin() + 3);
  for (const at::Tensor& x : qkv) x.set_requires_grad(true);
  const auto run = [&] {
    const at::Tensor output = FusedAttention(qkv[0], qkv[1], qkv[2]);
    Tensors results = torch::autograd::grad({output}, qkv, {inputs[3]});
    results.push_back(output);
    return results;
  };
  const Tensors first = run(), second = run();
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(at::equal(first[i], second[i])) << i;
  }
  at::set_num_threads(1);
}

// Large scores overflow without the running maximum.
TEST(FusedAttentionTest, LargeScoresDoNotOverflow) {
  Tensors inputs = InputsOf({1, 1, 130, 16}, at::kFloat);
  inputs[0] = inputs[0] * 100;
  const at::Tensor actual = FusedAttention(inputs[0], inputs[1], inputs[2]);
  const at::Tensor expected =
      AttentionFormula(inputs[0].to(at::kDouble), inputs[1].to(at::kDouble),
                       inputs[2].to(at::kDouble));
  EXPECT_LE(RelativeError(actual, expected), 1e-4);
}

TEST(FusedAttentionTest, NaNOfAnInputReachesTheResult) {
  Tensors inputs = InputsOf({1, 1, 40, 16}, at::kFloat);
  inputs[0].select(2, 9).fill_(std::numeric_limits<float>::quiet_NaN());
  const at::Tensor output = FusedAttention(inputs[0], inputs[1], inputs[2]);
  EXPECT_TRUE(output.select(2, 9).isnan().all().item<bool>());
  EXPECT_FALSE(output.select(2, 8).isnan().any().item<bool>());
}

TEST(FusedAttentionTest, MergingTheHeadsCopiesNothing) {
  const Tensors inputs = InputsOf({2, 3, 20, 8}, at::kFloat);
  const at::Tensor output = FusedAttention(inputs[0], inputs[1], inputs[2]);
  EXPECT_TRUE(output.transpose(1, 2).is_contiguous());
}

}  // namespace
}  // namespace trainbench
