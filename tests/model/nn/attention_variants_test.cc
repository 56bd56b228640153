// SPDX-License-Identifier: MIT
// Every attention variant available on a CPU, compared with float64.

#include <ATen/Context.h>
#include <torch/types.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "model/nn/attention/naive.h"
#include "model/nn/attention/tiled.h"
#include "model/nn/attention/variants.h"
#include "model/verification/products.h"
#include "tests/model/fused/comparison.h"
#include "tests/model/fused/formulas.h"
#include "tests/support/matchers.h"
#include "tests/support/tensors.h"

namespace trainbench {
namespace {

std::vector<AttentionKind> OnCpu() {
  std::vector<AttentionKind> kinds;
  for (const AttentionKind kind : kAttentionKinds) {
    if (AttentionUnavailable(kind, DeviceKind::kCpu, false, 16).empty()) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

const FusedDevice kAttentionOnCpu = CpuWith([](at::ScalarType type) {
  if (type == at::kDouble) return 1e-13;
  return type == at::kFloat ? 3e-6 : 2e-2;
});

TEST(AttentionVariantsTest, TheOperatorOfAVariantProvesThatItRan) {
  const Tensors in = RandomAttention({1, 1, 70, 16}, at::kFloat);
  for (const AttentionKind kind : OnCpu()) {
    const auto ops = ProductsOf([&] {
                       ComputeAttention(kind, in[0], in[1], in[2]);
                     }).operators;
    for (const AttentionKind other : OnCpu()) {
      const std::string op(VariantOf(other).op);
      // These run batched products, or LibTorch's choice, which is flash.
      const bool both = other == AttentionKind::kNaive ||
                        other == AttentionKind::kSdpa ||
                        kind == AttentionKind::kSdpa;
      if (other == kind) {
        EXPECT_THAT(ops, Contains(StartsWith(op))) << AttentionName(kind);
      } else if (!both) {
        EXPECT_THAT(ops, Not(Contains(StartsWith(op)))) << AttentionName(kind);
      }
    }
  }
}

// Also restores the backends of LibTorch that a user has chosen.
TEST(AttentionVariantsTest, OneThatIsUnavailableThrows) {
  const at::Context& context = at::globalContext();
  const auto backends = [&] {
    return std::vector<bool>{
        context.userEnabledMathSDP(), context.userEnabledFlashSDP(),
        context.userEnabledMemEfficientSDP(), context.userEnabledCuDNNSDP(),
        context.userEnabledOverrideableSDP()};
  };
  at::globalContext().setSDPUseMath(false);
  const std::vector<bool> chosen = backends();
  const Tensors in = RandomAttention({1, 1, 8, 16}, at::kFloat);
  int unavailable = 0;
  for (const AttentionKind kind : kAttentionKinds) {
    if (AttentionUnavailable(kind, DeviceKind::kCpu, false, 16).empty())
      continue;
    ++unavailable;
    EXPECT_THROW(ComputeAttention(kind, in[0], in[1], in[2]), c10::Error)
        << AttentionName(kind);
  }
  EXPECT_EQ(unavailable, 2);
  ComputeAttention(AttentionKind::kSdpaMath, in[0], in[1], in[2]);
  EXPECT_EQ(backends(), chosen);
  at::globalContext().setSDPUseMath(true);
}

TEST(NaiveSoftmaxTest, LargeAndMaskedValuesDoNotOverflow) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const at::Tensor x = at::tensor({3e38F, 3e38F, -3e38F, -kInfinity,  //
                                   -1e4F, -1e4F, -1e4F, -1e4F,        //
                                   1e4F, 1e4F - 1, -kInfinity, 0.0F})
                           .view({3, 4});
  const double e = std::exp(1.0);
  const at::Tensor expected =
      at::tensor({0.5, 0.5, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, e / (e + 1),
                  1 / (e + 1), 0.0, 0.0})
          .view({3, 4});
  EXPECT_LE(MaxError(NaiveSoftmax(x), expected), 1e-6);
}

TEST(NaiveSoftmaxTest, WidensBf16AndKeepsTheWiderTypes) {
  at::manual_seed(8);
  const at::Tensor x = at::randn({4, 300}).to(at::kBFloat16);
  const at::Tensor y = NaiveSoftmax(x);
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  // Sums in bf16 would have errors of several percent.
  EXPECT_LE(MaxError(y, at::softmax(x.to(at::kFloat), -1)), 1e-7);
  EXPECT_EQ(NaiveSoftmax(x.to(at::kFloat)).scalar_type(), at::kFloat);
  EXPECT_EQ(NaiveSoftmax(x.to(at::kDouble)).scalar_type(), at::kDouble);
}

TEST(TiledAttentionTest, AnyTilesAndLengthsAreRight) {
  for (const AttentionTiles& tiles :
       {AttentionTiles{16, 16}, {16, 48}, {64, 16}}) {
    for (const int64_t seq : {2, 16, 37, 64, 100}) {
      const auto tiled = [&](const at::Tensor& q, const at::Tensor& k,
                             const at::Tensor& v) {
        return TiledAttention(q, k, v, tiles);
      };
      for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16}) {
        SCOPED_TRACE(c10::str(tiles.queries, " x ", tiles.keys, " tiles"));
        ExpectFormula(
            kAttentionOnCpu,
            AttentionCase("tiled", tiled, RandomAttention({2, seq, 8}, type)));
      }
    }
  }
}

}  // namespace
}  // namespace trainbench
