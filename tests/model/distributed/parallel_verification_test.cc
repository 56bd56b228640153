// SPDX-License-Identifier: MIT

#include "model/distributed/trainer/parallel_verification.h"

#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/distributed/fsdp/fully_sharded.h"
#include "model/nn/dtype.h"
#include "model/spec/check_log.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/support/architectures.h"
#include "tests/support/fake_group.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

// As in GPT-2, every matrix has a bias, which starts at 0.
ModelConfig Config() {
  ModelConfig config = Gpt({"m", 256, 1024, 2, 4, 100});
  config.biases = Biases::kAll;
  return config;
}

Batch BatchOf(const ProcessGroup& group) {
  at::manual_seed(5);
  return ShareOf(RandomBatch(Config().vocab, 2 * group.size(), 16, at::kCPU),
                 group);
}

using Change = std::function<void(const std::vector<at::Tensor>& tensors)>;

// Averages all gradients and updates all parameters, apart from faults.
class Trainer final : public ParallelTrainer {
 public:
  Trainer(const TransformerLm& model, ProcessGroup& group, Change gradients,
          std::vector<at::Tensor> fixed = {})
      : parameters_(Parameters(model)),
        group_(group),
        change_gradients_(std::move(gradients)),
        fixed_(std::move(fixed)) {}

  void Finish() override {
    if (change_gradients_) change_gradients_(parameters_);
    AverageGradients(parameters_, group_);
  }
  void Update() override {
    std::vector<at::Tensor> before;
    for (const at::Tensor& tensor : fixed_) {
      before.push_back(tensor.detach().clone());
    }
    adamw_.Step();
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      fixed_[i].detach().copy_(before[i]);
    }
    for (const at::Tensor& parameter : parameters_) {
      parameter.mutable_grad().reset();
    }
  }
  void SetExchanges(bool) override {}
  const AdamW& optimizer() const override { return adamw_; }

 private:
  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  Change change_gradients_;
  std::vector<at::Tensor> fixed_;
  AdamW adamw_{parameters_, AdamWKind::kFused};
};

absl::Status Verify(TransformerLm& model, ParallelTrainer& trainer,
                    Precision precision, ProcessGroup& group) {
  TransformerLm whole(Config(), at::dtype(WeightType(precision)));
  return VerifyUpdate(model, trainer, whole, BatchOf(group), precision, group);
}

constexpr Precision kOnCpu[] = {Precision::kFp32, Precision::kBf16Autocast,
                                Precision::kBf16};

class VerifyUpdateTest : public testing::TestWithParam<Precision> {
 protected:
  std::string Message(
      const Change& gradients,
      const std::function<std::vector<at::Tensor>(const TransformerLm&)>&
          fixed = [](const auto&) { return std::vector<at::Tensor>(); }) {
    at::manual_seed(3);
    TransformerLm model(Config(), at::dtype(WeightType(GetParam())));
    FakeGroup group(/*rank=*/0, /*size=*/1);
    Trainer trainer(model, group, gradients, fixed(model));
    CheckLog log(/*goes_on=*/true);
    return std::string(
        log.Run([&] { return Verify(model, trainer, GetParam(), group); })
            .message());
  }
};

TEST_P(VerifyUpdateTest, ParametersThatStayAreSeen) {
  EXPECT_EQ(Message(nullptr), "");
  EXPECT_THAT(
      Message(nullptr,
              [](const TransformerLm& model) {
                return std::vector<at::Tensor>{model->token_embeddings->weight};
              }),
      HasSubstr("moves_error "));
  EXPECT_THAT(Message(nullptr,
                      [](const TransformerLm& model) {
                        return std::vector<at::Tensor>{model->ln_final->bias};
                      }),
              HasSubstr("moves_error "));
  // In bf16 a step does not change a weight of 1.
  const bool shows = GetParam() != Precision::kBf16;
  EXPECT_THAT(Message(nullptr,
                      [](const TransformerLm& model) {
                        return std::vector<at::Tensor>{model->ln_final->weight};
                      }),
              HasSubstr(shows ? "moves_error " : ""));
}

TEST_P(VerifyUpdateTest, AMissingDivisionByTheRanksIsSeen) {
  EXPECT_THAT(Message([](const std::vector<at::Tensor>& parameters) {
                for (const at::Tensor& parameter : parameters) {
                  parameter.grad().mul_(2);
                }
              }),
              HasSubstr("scale_error 1 >"));
}

INSTANTIATE_TEST_SUITE_P(OnCpu, VerifyUpdateTest, testing::ValuesIn(kOnCpu));

class RankParallelVerification : public RankTest {};

TEST_F(RankParallelVerification, AMissingRankIsSeen) {
  for (const Precision precision : kOnCpu) {
    TransformerLm model = Replica(Config(), *group_);
    model->to(WeightType(precision));
    const bool is_missing = group_->rank() == 1;
    Trainer trainer(model, *group_,
                    [&](const std::vector<at::Tensor>& parameters) {
                      if (!is_missing) return;
                      for (const at::Tensor& parameter : parameters) {
                        parameter.grad().zero_();
                      }
                    });
    EXPECT_THAT(Verify(model, trainer, precision, *group_).message(),
                HasSubstr("moves_error "));
  }
}

// The order of a sum reverses the moves of a few biases.
TEST_F(RankParallelVerification, RightShardsPass) {
  for (const Precision precision : kOnCpu) {
    TransformerLm model = Replica(Config(), *group_);
    FullySharded sharded(model, {}, WeightType(precision), {}, *group_);
    EXPECT_EQ(Verify(model, sharded, precision, *group_), absl::OkStatus());
  }
}

}  // namespace
}  // namespace trainbench
