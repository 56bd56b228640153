// SPDX-License-Identifier: MIT

#include "model/verification/products.h"

#include <torch/types.h>

#include <stdexcept>
#include <string>

#include "model/nn/autocast.h"
#include "model/nn/dtype.h"
#include "model/training/precision_scope.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

std::string WhyNot(const Products& products, Precision precision) {
  return std::string(ProveProducts(products, precision).message());
}

TEST(ProductsOfTest, CountsWhatMultipliesAndNotWhatCallsIt) {
  const at::Tensor a = at::ones({2, 3, 3}), b = at::ones({3, 3}, at::kDouble);
  const Products products = ProductsOf([&] {
    at::matmul(a, a);  // calls bmm
    at::linear(b, b);  // calls mm
    at::addmm(b, b, b);
    a.add(a);
  });
  EXPECT_THAT(products.by_type,
              ElementsAre(Pair(at::kFloat, 1), Pair(at::kDouble, 2)));
  EXPECT_THAT(products.operators,
              IsSupersetOf({"aten::matmul", "aten::bmm", "aten::add"}));
  EXPECT_THAT(products.operators, Not(Contains("aten::ones")));
  EXPECT_THAT(products.fused_attention, IsEmpty());
}

TEST(ProductsOfTest, StopsWithTheWorkEvenIfItThrows) {
  EXPECT_THROW(ProductsOf([] { throw std::runtime_error("no"); }),
               std::runtime_error);
  const at::Tensor a = at::ones({2, 2});
  at::mm(a, a);
  EXPECT_THAT(ProductsOf([] {}).by_type, IsEmpty());
}

// Autocast calls an operator twice: with the original inputs, and cast ones.
TEST(ProductsOfTest, UnderAutocastTheCastsCount) {
  const at::Tensor a = at::ones({2, 2});
  const AutocastScope autocast(Precision::kBf16Autocast, c10::kCPU);
  EXPECT_THAT(ProductsOf([&] { at::mm(a, a); }).by_type,
              ElementsAre(Pair(at::kBFloat16, 1)));
}

TEST(ForwardProductsTest, KnowsTheOperatorOfFusedAttention) {
  const Batch batch = RandomBatch(100, 1, 8, at::kCPU);
  for (const auto attention : {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    TransformerLm model(ModelConfig{"m", 64, 160, 2, 4, 100, attention},
                        at::TensorOptions());
    const Products products = ForwardProducts(model, batch, Precision::kFp32);
    // 7 matrices per layer and the head; scores and values, or both fused.
    const bool naive = attention == AttentionKind::kNaive;
    EXPECT_THAT(products.by_type,
                ElementsAre(Pair(at::kFloat, 2 * (naive ? 9 : 8) + 1)));
    if (naive) {
      EXPECT_THAT(products.fused_attention, IsEmpty());
    } else {
      EXPECT_THAT(
          products.fused_attention,
          ElementsAre("aten::_scaled_dot_product_flash_attention_for_cpu"));
    }
  }
}

TEST(ProveProductsTest, ARowMultipliesWhatItSays) {
  Products fp32, tf32, mixed;
  fp32.by_type = tf32.by_type = {{at::kFloat, 7}};
  tf32.tf32 = true;
  mixed.by_type = {{at::kFloat, 1}, {at::kBFloat16, 6}};
  EXPECT_EQ(WhyNot(fp32, Precision::kFp32), "");
  EXPECT_EQ(WhyNot(tf32, Precision::kTf32), "");
  EXPECT_EQ(WhyNot(mixed, Precision::kBf16), "");
  EXPECT_EQ(WhyNot(mixed, Precision::kBf16Autocast), "");
  EXPECT_EQ(WhyNot(tf32, Precision::kFp32),
            "the row says fp32, but fp32 products may use reduced precision");
  EXPECT_EQ(WhyNot(fp32, Precision::kTf32),
            "the row says tf32, but fp32 products use full precision");
  EXPECT_EQ(WhyNot(mixed, Precision::kFp32),
            "the row says fp32, but the matrix products have operands of fp32 "
            "x1,bf16 x6");
  EXPECT_EQ(WhyNot(fp32, Precision::kBf16Autocast),
            "the row says bf16_autocast, but no matrix product has operands of "
            "bf16; found: fp32 x7");
  EXPECT_THAT(WhyNot({}, Precision::kFp32), HasSubstr("found: none"));
}

TEST(ProveProductsTest, AScopeOfAPrecisionIsSeen) {
  const at::Tensor a = at::ones({2, 2});
  for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
    const MatmulScope scope(precision);
    const Products products = ProductsOf([&] { at::mm(a, a); });
    EXPECT_EQ(products.tf32, precision == Precision::kTf32);
    EXPECT_EQ(WhyNot(products, precision), "");
  }
}

}  // namespace
}  // namespace trainbench
