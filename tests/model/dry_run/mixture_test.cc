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
#include <vector>

#include "model/dry_run/dry_run.h"
#include "model/nn/cross_entropy.h"
#include "model/nn/embedding.h"
#include "model/nn/feed_forward.h"
#include "model/nn/linear.h"
#include "model/training/adamw.h"
#include "tests/model/dry_run/bytes_of.h"

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

constexpr int64_t kVocab = 301, kTokens = 64;

class MixtureStep {
 public:
  explicit MixtureStep(Implementation implementation)
      : MixtureStep(ModelConfig{.name = "mixture",
                                .d_model = 48,
                                .d_ff = 100,
                                .layers = 1,
                                .heads = 2,
                                .vocab = kVocab,
                                .implementation = implementation}) {}

  void Run() {
    const at::Tensor x = embedding_(tokens_);
    const at::Tensor logits = head_(x + mixture_(x));
    CrossEntropy(logits.unsqueeze(0), targets_.unsqueeze(0), implementation_)
        .backward();
    optimizer_.Step();
    for (const at::Tensor& parameter : parameters_) {
      parameter.mutable_grad().reset();
    }
  }

 private:
  explicit MixtureStep(const ModelConfig& config)
      : implementation_(config.implementation),
        embedding_(kVocab, config.d_model, at::TensorOptions()),
        mixture_(config, at::TensorOptions()),
        head_(config.d_model, kVocab, at::TensorOptions()),
        parameters_(
            ParametersOf({embedding_.ptr(), mixture_.ptr(), head_.ptr()})),
        optimizer_(parameters_, AdamWKind::kFused),
        tokens_(at::randint(kVocab, {kTokens}, at::kLong)),
        targets_(at::randint(kVocab, {kTokens}, at::kLong)) {
    Run();
  }

  static std::vector<at::Tensor> ParametersOf(
      const std::vector<std::shared_ptr<torch::nn::Module>>& modules) {
    std::vector<at::Tensor> all;
    for (const auto& module : modules) {
      for (const at::Tensor& one : module->parameters()) all.push_back(one);
    }
    return all;
  }

  Implementation implementation_;
  Embedding embedding_;
  Mixture mixture_;
  Linear head_;
  std::vector<at::Tensor> parameters_;
  AdamW optimizer_;
  at::Tensor tokens_, targets_;
};

TEST(MixtureTest, TakesDryTheBytesOfARealStep) {
  at::set_num_threads(1);
  for (const Implementation implementation : kImplementations) {
    const auto bytes = [&] {
      return BytesOf(at::kCPU, [&] {
        return std::make_unique<MixtureStep>(implementation);
      });
    };
    const Bytes real = bytes();
    const DryRun dry;
    EXPECT_EQ(bytes(), real) << ImplementationName(implementation);
  }
}

}  // namespace
}  // namespace trainbench
