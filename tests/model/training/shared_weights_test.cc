// SPDX-License-Identifier: MIT
// Some weights have several readers: query heads share a head of keys and
// values, and the output head may be tied to the embeddings. Such a model
// equals a model with an equal weight for each reader.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <string>

#include "model/training/train_step.h"
#include "model/verification/relative_error.h"
#include "tests/model/training/small_model.h"

namespace trainbench {
namespace {

constexpr int64_t kHeads = 6, kWidth = 8;  // per head

struct Sharing {
  Implementation implementation;
  AttentionKind attention;
  int64_t kv_heads;
  bool tied = false;
};

ModelConfig ConfigOf(const Sharing& sharing) {
  ModelConfig config = SmallConfig(sharing.implementation, sharing.attention);
  config.kv_heads = sharing.kv_heads;
  config.tied_embeddings = sharing.tied;
  return config;
}

bool IsOfKeysOrValues(const std::string& name) {
  return name.find("k_proj") != std::string::npos ||
         name.find("v_proj") != std::string::npos;
}

// [kv_heads d_head, d_model] -> [kv_heads, d_head, d_model].
at::Tensor ByHead(const at::Tensor& weight) {
  return weight.unflatten(0, {-1, kWidth});
}

class SharedWeightsTest : public testing::TestWithParam<Sharing> {
 protected:
  static int64_t kv_heads() { return GetParam().kv_heads; }
  // Our own kernels do not support float64.
  static at::ScalarType Dtype() {
    return GetParam().implementation == Implementation::kFused ||
                   GetParam().attention == AttentionKind::kOwn
               ? at::kFloat
               : at::kDouble;
  }
  static double Tolerance() { return Dtype() == at::kDouble ? 1e-13 : 3e-6; }

  // A float64 model with a copy of the weight for each reader.
  TransformerLm MakeWhole() const {
    TransformerLm whole = SeededModel(
        ConfigOf({Implementation::kTextbook, AttentionKind::kNaive, 0}),
        at::kDouble);
    const at::NoGradGuard no_grad;
    const auto weights = whole->named_parameters();
    for (const auto& item : model_->named_parameters()) {
      const at::Tensor& from = item.value();
      weights[item.key()].copy_(
          IsOfKeysOrValues(item.key())
              ? ByHead(from)
                    .repeat_interleave(kHeads / kv_heads(), 0)
                    .flatten(0, 1)
              : from);
    }
    whole->lm_head->weight.copy_(model_->lm_head->weight);
    return whole;
  }

  // The sum of the gradients of a weight's copies.
  static at::Tensor SumOfCopies(const TransformerLm& whole,
                                const std::string& name) {
    const at::Tensor gradient = whole->named_parameters()[name].grad();
    if (IsOfKeysOrValues(name)) {
      return ByHead(gradient)
          .unflatten(0, {kv_heads(), -1})
          .sum(1)
          .flatten(0, 1);
    }
    if (GetParam().tied && name == "token_embeddings.weight") {
      return gradient + whole->lm_head->weight.grad();
    }
    return gradient;
  }

  TransformerLm model_ = SeededModel(ConfigOf(GetParam()), Dtype());
  Batch batch_ = RandomBatch(90, 2, 11, at::kCPU);
};

TEST_P(SharedWeightsTest, LogitsAndGradientsAreThoseOfACopyForEachReader) {
  TransformerLm whole = MakeWhole();
  EXPECT_EQ(model_->layers[0]->attn->k_proj->weight.size(0),
            kv_heads() * kWidth);
  {
    const at::NoGradGuard no_grad;
    EXPECT_LE(RelativeError(model_(batch_.tokens), whole(batch_.tokens)),
              Tolerance());
  }
  ComputeGradients(model_, batch_, Precision::kFp32);
  ComputeGradients(whole, batch_, Precision::kFp32);
  for (const auto& item : model_->named_parameters()) {
    EXPECT_LE(
        RelativeError(item.value().grad(), SumOfCopies(whole, item.key())),
        Tolerance())
        << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(
    , SharedWeightsTest,
    testing::Values(
        Sharing{Implementation::kTextbook, AttentionKind::kNaive, 2, true},
        Sharing{Implementation::kTextbook, AttentionKind::kTiled, 3},
        Sharing{Implementation::kLibrary, AttentionKind::kSdpa, 1, true},
        Sharing{Implementation::kLibrary, AttentionKind::kSdpaMath, 2},
        Sharing{Implementation::kLibrary, AttentionKind::kOwn, 3},
        Sharing{Implementation::kFused, AttentionKind::kNaive, 3},
        Sharing{Implementation::kFused, AttentionKind::kOwn, 2},
        Sharing{Implementation::kFused, AttentionKind::kOwn, 1, true}),
    [](const auto& param) {
      return std::string(ImplementationName(param.param.implementation)) + "_" +
             std::string(AttentionName(param.param.attention)) + "_" +
             std::to_string(param.param.kv_heads);
    });

TEST(TiedEmbeddingsTest, AreDrawnAsAHeads) {
  Sharing sharing = {Implementation::kTextbook, AttentionKind::kNaive, 2};
  const TransformerLm untied = SeededModel(ConfigOf(sharing), at::kFloat);
  sharing.tied = true;
  EXPECT_TRUE(SeededModel(ConfigOf(sharing), at::kFloat)
                  ->token_embeddings->weight.equal(untied->lm_head->weight));
}

}  // namespace
}  // namespace trainbench
