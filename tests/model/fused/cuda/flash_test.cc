// SPDX-License-Identifier: MIT
// FlashAttention-2 on a GPU compared with attention in float64, with autograd.

#include <ATen/Context.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>

#include "model/fused/attention.h"
#include "tests/model/c10_error.h"
#include "tests/model/fused/cuda/fixture.h"

namespace trainbench {
namespace {

struct Shape {
  int64_t batch, heads, seq, d_head;
};

// More than one tile of queries and of keys; the last tile is partial.
constexpr Shape kShapes[] = {{2, 2, 33, 16}, {1, 1, 150, 16}, {1, 1, 70, 32},
                             {2, 1, 3, 32},  {1, 1, 140, 64}, {1, 1, 129, 128},
                             {1, 2, 70, 80}};

class CudaFlashTest : public CudaFusedTest {
 protected:
  // q and v are views of a joint product, like a model's split heads.
  void ExpectRight(const Shape& s) {
    for (const at::ScalarType type : kFusedTypes) {
      Tensors inputs = at::randn({s.batch, s.seq, 3, s.heads, s.d_head})
                           .to(type)
                           .transpose(1, 3)
                           .unbind(2);
      inputs[1] = inputs[1].contiguous();
      ExpectFormula(AttentionCase("attention", FusedAttention, inputs));
    }
  }
};

TEST_F(CudaFlashTest, IsTheFormulaForwardAndBackward) {
  for (const Shape& shape : kShapes) ExpectRight(shape);
}

TEST_F(CudaFlashTest, IsRefusedWhereOnlyDeterministicOperatorsMayRun) {
  const at::Tensor x = at::randn({1, 1, 4, 16}, at::kCUDA).requires_grad_(true);
  const at::Tensor sum = FusedAttention(x, x, x).sum();
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  EXPECT_THROW(sum.backward(), c10::Error);
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
  ResetCounters();  // LibTorch made the inputs
}

// Kernels load 16 bytes: a misaligned tensor is copied first.
TEST_F(CudaFlashTest, TakesTensorsThatAreNotAligned) {
  const at::Tensor whole = at::randn({1 + 3 * 17 * 16});
  const at::Tensor x = whole.narrow(0, 1, 3 * 17 * 16).view({1, 3, 17, 16});
  ExpectFormula(AttentionCase("attention", FusedAttention,
                              {x, at::randn_like(x), at::randn_like(x)}));
}

TEST_F(CudaFlashTest, OtherHeadsAreNamed) {
  const at::Tensor q = ToDevice(at::ones({1, 1, 4, 24}));
  EXPECT_EQ(ErrorOf([&] { FusedAttention(q, q, q); }),
            "heads have dimension 24; allowed on a GPU: 16, 32, 64, above it "
            "multiples of 8 up to 128");
}

}  // namespace
}  // namespace trainbench
