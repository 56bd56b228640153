// SPDX-License-Identifier: MIT
// A layer for which the dry run has no special support: a mixture of experts.
// Its memory is predicted by running it.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/dry_run/dry_run.h"
#include "model/nn/feed_forward.h"
#include "model/nn/linear.h"
#include "model/training/adamw.h"
#include "tests/model/step_bytes.h"
#include "tests/model/training/small_model.h"

namespace trainbench {
namespace {

constexpr int64_t kExperts = 4, kChosen = 2;

// Each token goes to the two experts with the largest weights (Shazeer et al.
// 2017). Each expert takes an equal share of the tokens, those with the largest
// weights first (Lepikhin et al. 2021).
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

  // [tokens, d_model] -> [tokens, d_model].
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

TEST(MixtureTest, TakesDryTheBytesOfARealStep) {
  at::set_num_threads(1);
  for (const Implementation implementation : kImplementations) {
    const ModelConfig config =
        SmallConfig(implementation, AttentionKind::kNaive);
    const auto bytes = [&config] {
      Mixture mixture = nullptr;
      std::unique_ptr<AdamW> optimizer;
      at::Tensor x;
      const auto build = [&] {
        mixture = Mixture(config, at::TensorOptions());
        optimizer =
            std::make_unique<AdamW>(mixture->parameters(), AdamWKind::kFused);
        x = at::randn({64, config.d_model});
      };
      const auto step = [&] {
        mixture(x).square().mean().backward();
        optimizer->Step();
        mixture->zero_grad(/*set_to_none=*/true);
      };
      return MeasureSteps(at::kCPU, build, /*first=*/step, step);
    };
    const StepBytes real = bytes();
    const DryRun dry;
    EXPECT_EQ(bytes(), real) << ImplementationName(implementation);
  }
}

}  // namespace
}  // namespace trainbench
