// SPDX-License-Identifier: MIT
// Every attention variant available on a CPU, compared with float64.

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/nn/attention/tiled.h"
#include "model/nn/attention/variants.h"
#include "tests/model/fused/formulas.h"

namespace trainbench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<AttentionKind> OnCpu() {
  std::vector<AttentionKind> kinds;
  for (const AttentionKind kind : AttentionKinds()) {
    if (AttentionUnavailable(kind, DeviceKind::kCpu, false, 16).empty()) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

// Returns q, k, v and the output's gradient.
Tensors RandomVariantInputs(at::IntArrayRef sizes, at::ScalarType type) {
  at::manual_seed(1);
  Tensors inputs;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(at::randn(sizes, at::kDouble).to(type));
  }
  return inputs;
}

void ExpectFormula(const AttentionFunction& attention, const Tensors& inputs,
                   bool causal, const std::string& what) {
  const at::ScalarType type = inputs[0].scalar_type();
  const double allowed = type == at::kDouble  ? 1e-13
                         : type == at::kFloat ? 3e-6
                                              : 2e-2;
  Tensors wide;
  for (const at::Tensor& x : inputs) wide.push_back(x.to(at::kDouble));
  const Tensors actual = Differentiate(attention, inputs);
  const Tensors expected = Differentiate(
      [&](const auto& q, const auto& k, const auto& v) {
        return AttentionFormula(q, k, v, causal);
      },
      wide);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].scalar_type(), type) << what;
    EXPECT_EQ(actual[i].sizes(), expected[i].sizes()) << what;
    EXPECT_LE(RelativeNorm(actual[i], expected[i]), allowed)
        << what << " " << type << " tensor " << i;
  }
}

TEST(AttentionVariantsTest, EachIsTheFormulaInFloat64ForwardAndBackward) {
  for (const AttentionKind kind : OnCpu()) {
    const AttentionFunction attention = [&](const auto& q, const auto& k,
                                            const auto& v) {
      return ComputeAttention(kind, q, k, v);
    };
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      for (const std::vector<int64_t>& sizes :
           {std::vector<int64_t>{2, 3, 70, 16}, {2, 33, 10}}) {
        ExpectFormula(attention, RandomVariantInputs(sizes, type),
                      /*causal=*/true, std::string(AttentionName(kind)));
      }
    }
  }
}

std::set<std::string>& Seen() {
  static auto* const seen = new std::set<std::string>();
  return *seen;
}

std::unique_ptr<at::ObserverContext> Note(const at::RecordFunction& op) {
  Seen().insert(op.name());
  return nullptr;
}

// Returns the names of the operators that `work` runs on this thread.
std::set<std::string> OpsOf(const std::function<void()>& work) {
  Seen().clear();
  const at::CallbackHandle handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&Note).scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  return Seen();
}

TEST(AttentionVariantsTest, TheOperatorOfAVariantProvesThatItRan) {
  const Tensors in = RandomVariantInputs({1, 1, 70, 16}, at::kFloat);
  for (const AttentionKind kind : OnCpu()) {
    const auto ops =
        OpsOf([&] { ComputeAttention(kind, in[0], in[1], in[2]); });
    for (const AttentionKind other : OnCpu()) {
      const std::string op(AttentionOpPrefix(other, DeviceKind::kCpu));
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

TEST(AttentionVariantsTest, OneThatIsUnavailableThrows) {
  const Tensors in = RandomVariantInputs({1, 1, 8, 16}, at::kFloat);
  int unavailable = 0;
  for (const AttentionKind kind : AttentionKinds()) {
    if (AttentionUnavailable(kind, DeviceKind::kCpu, false, 16).empty())
      continue;
    ++unavailable;
    EXPECT_THROW(ComputeAttention(kind, in[0], in[1], in[2]), c10::Error)
        << AttentionName(kind);
  }
  EXPECT_EQ(unavailable, 2);
}

TEST(TiledAttentionTest, AnyTilesAndLengthsAreRight) {
  for (const AttentionTiles& tiles :
       {AttentionTiles{16, 16}, {16, 48}, {64, 16}}) {
    for (const int64_t seq : {2, 16, 37, 64, 100}) {
      for (const bool causal : {true, false}) {
        const AttentionFunction tiled = [&](const auto& q, const auto& k,
                                            const auto& v) {
          return TiledAttention(q, k, v, causal, tiles);
        };
        for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16}) {
          ExpectFormula(tiled, RandomVariantInputs({2, seq, 8}, type), causal,
                        std::to_string(tiles.queries) + "x" +
                            std::to_string(tiles.keys) + " tiles, " +
                            std::to_string(seq) + (causal ? " causal" : ""));
        }
      }
    }
  }
}

TEST(TiledAttentionTest, RefusesSmallTilesAndUnequalSizes) {
  const auto refusal = [](const at::Tensor& k, const AttentionTiles& tiles) {
    try {
      TiledAttention(at::ones({1, 20, 8}), k, at::ones({1, 20, 8}), true,
                     tiles);
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(at::ones({1, 20, 8}), {16, 15}),
              HasSubstr("tiles are 16 x 15; allowed: at least 16"));
  EXPECT_THAT(refusal(at::ones({1, 21, 8}), {}),
              HasSubstr("allowed: the same"));
}

}  // namespace
}  // namespace trainbench
