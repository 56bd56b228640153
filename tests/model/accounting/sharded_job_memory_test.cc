// SPDX-License-Identifier: MIT
// The closed forms of sharded_job.h against tensors.

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <utility>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/accounting/parallel/sharded_job.h"

namespace trainbench {
namespace {

// A real stack of blocks, small, in bf16.
class StackTest : public testing::Test {
 protected:
  static constexpr int kModel = 32, kFf = 96, kBlocks = 3, kTokens = 64;

  StackTest() {
    for (int i = 0; i < kBlocks; ++i) {
      for (const auto& [in, out] : {std::pair{kModel, kFf}, {kFf, kModel}}) {
        linears_.push_back(
            torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false)));
        linears_.back()->to(at::kBFloat16);
      }
    }
  }

  const ShardedJob job_ = {.d_model = kModel, .d_ff = kFf, .blocks = kBlocks};
  std::vector<torch::nn::Linear> linears_;
};

TEST_F(StackTest, HasThatManyParameters) {
  double params = 0;
  for (const auto& linear : linears_) params += linear->weight.numel();
  EXPECT_EQ(ShardedJobParams(job_), params);
}

TEST_F(StackTest, SavesThatMuchPerToken) {
  const auto probe = MakeMemoryProbe(at::kCPU);
  at::Tensor x;
  probe->Observe([&] {
    x = at::randn({kTokens, kModel}, at::kBFloat16).requires_grad_();
    for (auto& linear : linears_) x = linear(x);
  });
  // Live are the inputs of all matrices and the output of the last one.
  const double output = x.nbytes();
  EXPECT_EQ(static_cast<double>(probe->LiveBytes()) - output,
            kTokens * SavedBytesPerToken(job_));
}

}  // namespace
}  // namespace trainbench
