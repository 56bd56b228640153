// SPDX-License-Identifier: MIT
// A layer for which the dry run has no special support: a mixture of experts.
// Its memory is predicted by running it.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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
struct Mixture : torch::nn::Module {
  explicit Mixture(const ModelConfig& config)
      : router(register_module(
            "router", Linear(config.d_model, kExperts, at::TensorOptions()))) {
    for (int64_t i = 0; i < kExperts; ++i) {
      experts.push_back(register_module(
          c10::str("expert", i), FeedForward(config, at::TensorOptions())));
    }
  }

  // [tokens, d_model] -> [tokens, d_model].
  at::Tensor operator()(const at::Tensor& x) {
    const at::Tensor likes = router(x).softmax(-1);
    const auto [weights, chosen] = likes.topk(kChosen);
    const at::Tensor shares = weights / weights.sum(-1, /*keepdim=*/true);
    const at::Tensor by_expert =
        at::zeros_like(likes).scatter(-1, chosen, shares);
    at::Tensor sum = at::zeros_like(x);
    for (int64_t i = 0; i < kExperts; ++i) {
      const auto [share, token] =
          by_expert.select(-1, i).topk(x.size(0) * kChosen / kExperts);
      FeedForward& expert = experts[static_cast<std::size_t>(i)];
      const at::Tensor mine =
          expert(x.index_select(0, token).unsqueeze(0)).squeeze(0);
      sum = sum.index_add(0, token, mine * share.unsqueeze(-1));
    }
    return sum;
  }

  Linear router;
  std::vector<FeedForward> experts;
};

TEST(MixtureTest, TakesDryTheBytesOfARealStep) {
  at::set_num_threads(1);
  for (const Implementation implementation : kImplementations) {
    const ModelConfig config =
        SmallConfig(implementation, AttentionKind::kNaive);
    const auto bytes = [&config] {
      std::optional<Mixture> mixture;
      std::optional<AdamW> optimizer;
      at::Tensor x;
      const auto build = [&] {
        mixture.emplace(config);
        optimizer.emplace(mixture->parameters(), AdamWKind::kFused);
        x = at::randn({64, config.d_model});
      };
      const auto step = [&] {
        (*mixture)(x).square().mean().backward();
        optimizer->Step();
        mixture->zero_grad(/*set_to_none=*/true);
      };
      return MeasureSteps(at::kCPU, build, step);
    };
    const StepBytes real = bytes();
    const DryRun dry;
    EXPECT_EQ(bytes(), real) << ImplementationName(implementation);
  }
}

}  // namespace
}  // namespace trainbench
