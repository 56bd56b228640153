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

class CudaFlashTest : public CudaFusedTest {
 protected:
  // q and v are views, like a model's split heads.
  void ExpectRight(const Shape& s, at::ScalarType type) {
    Tensors inputs;
    for (int i = 0; i < 3; ++i) {
      inputs.push_back(at::randn({s.batch, s.seq, s.heads, s.d_head})
                           .to(type)
                           .transpose(1, 2));
    }
    inputs[1] = inputs[1].contiguous();
    ExpectFormula(AttentionCase("attention", FusedAttention, inputs));
  }
};

TEST_F(CudaFlashTest, IsTheFormulaForwardAndBackward) {
  for (const at::ScalarType type : kFusedTypes) {
    for (const Shape& shape : {Shape{2, 2, 33, 16}, Shape{1, 1, 70, 32},
                               Shape{1, 1, 130, 64}, Shape{1, 1, 20, 128}}) {
      ExpectRight(shape, type);
    }
  }
}

TEST_F(CudaFlashTest, IsTheFormulaDeterministically) {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  // Keeps LibTorch from filling uninitialized memory.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  for (const at::ScalarType type : kFusedTypes) {
    ExpectRight({1, 2, 70, 32}, type);
  }
  at::globalContext().setDeterministicFillUninitializedMemory(true);
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
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
            "heads have dimension 24; allowed on a GPU: 16, 32, 64, 128");
}

}  // namespace
}  // namespace trainbench
