// SPDX-License-Identifier: MIT
// A layer that nobody prepared the dry run for: a mixture of experts, whose
// memory is predicted by running it.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/dry_run/dry_run.h"
#include "model/nn/cross_entropy.h"
#include "model/nn/embedding.h"
#include "model/nn/feed_forward.h"
#include "model/nn/linear.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "tests/model/dry_run/bytes_of.h"
#include "tests/model/training/small_model.h"

namespace trainbench {
namespace {

constexpr int64_t kExperts = 4, kChosen = 2;

// Each token goes to the two experts with the largest weights (Shazeer et al.
// 2017). An expert takes as many tokens as it would get if all were equally
// liked, those with the largest weights first (Lepikhin et al. 2021).
class MixtureImpl : public torch::nn::Module {
 public:
  MixtureImpl(const ModelConfig& config, const at::TensorOptions& options)
      : router_(register_module("router",
                                Linear(config.d_model, kExperts, options))) {
    for (int64_t i = 0; i < kExperts; ++i) {
      experts_->push_back(FeedForward(config, options));
    }
    register_module("experts", experts_);
  }

  // [tokens, d_model] -> the same.
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor likes = router_(x).softmax(-1);
    const auto [weights, chosen] = likes.topk(kChosen);
    const at::Tensor shares = weights / weights.sum(-1, /*keepdim=*/true);
    const at::Tensor by_expert =
        at::zeros_like(likes).scatter(-1, chosen, shares);
    at::Tensor sum = at::zeros_like(x);
    for (int64_t i = 0; i < kExperts; ++i) {
      const auto [share, token] =
          by_expert.select(-1, i).topk(x.size(0) * kChosen / kExperts);
      const at::Tensor mine =
          experts_->ptr<FeedForwardImpl>(static_cast<std::size_t>(i))
              ->forward(x.index_select(0, token).unsqueeze(0))
              .squeeze(0);
      sum = sum.index_add(0, token, mine * share.unsqueeze(-1));
    }
    return sum;
  }

 private:
  Linear router_;
  torch::nn::ModuleList experts_;
};
TORCH_MODULE(Mixture);

class MixtureLmImpl : public torch::nn::Module {
 public:
  explicit MixtureLmImpl(const ModelConfig& config)
      : embedding_(register_module(
            "embedding", Embedding(config.vocab, config.d_model, kOptions))),
        mixture_(register_module("mixture", Mixture(config, kOptions))),
        head_(register_module(
            "head", Linear(config.d_model, config.vocab, kOptions))) {}

  // tokens [tokens] -> logits [tokens, vocab].
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = embedding_(tokens);
    return head_(x + mixture_(x));
  }

 private:
  inline static const at::TensorOptions kOptions;
  Embedding embedding_;
  Mixture mixture_;
  Linear head_;
};
TORCH_MODULE(MixtureLm);

class MixtureStep {
 public:
  explicit MixtureStep(const ModelConfig& config)
      : implementation_(config.implementation),
        model_(config),
        optimizer_(model_->parameters(), AdamWKind::kFused),
        batch_(RandomBatch(config.vocab, 1, 64, at::kCPU)) {
    Run();
  }

  void Run() {
    CrossEntropy(model_(batch_.tokens.flatten()), batch_.targets.flatten(),
                 implementation_)
        .backward();
    optimizer_.Step();
    model_->zero_grad(/*set_to_none=*/true);
  }

 private:
  Implementation implementation_;
  MixtureLm model_;
  AdamW optimizer_;
  Batch batch_;
};

TEST(MixtureTest, TakesDryTheBytesOfARealStep) {
  at::set_num_threads(1);
  for (const Implementation implementation : kImplementations) {
    const auto bytes = [&] {
      return BytesOf(at::kCPU, [&] {
        return std::make_unique<MixtureStep>(
            SmallConfig(implementation, AttentionKind::kNaive));
      });
    };
    const Bytes real = bytes();
    const DryRun dry;
    EXPECT_EQ(bytes(), real) << ImplementationName(implementation);
  }
}

}  // namespace
}  // namespace trainbench
