// SPDX-License-Identifier: MIT

#include "model/distributed/trainer/parallel_verification.h"

#include <torch/types.h>

#include <functional>
#include <string>
#include <utility>

#include "model/distributed/fsdp/fully_sharded.h"
#include "model/nn/dtype.h"
#include "model/spec/check_log.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/support/architectures.h"
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

using Change = std::function<void(const TransformerLm& model)>;

void Nothing(const TransformerLm&) {}

// Averages all gradients and updates all parameters, apart from faults.
class Trainer final : public ParallelTrainer {
 public:
  Trainer(const TransformerLm& model, ProcessGroup& group, Change before,
          Change after)
      : model_(model),
        group_(group),
        change_own_(std::move(before)),
        change_mean_(std::move(after)) {}

  void Finish() override {
    change_own_(model_);
    AverageGradients(Parameters(model_), group_);
    change_mean_(model_);
  }
  void Update() override {
    adamw_.Step();
    ReleaseGradients(model_);
  }
  void SetExchanges(bool) override {}
  const AdamW& optimizer() const override { return adamw_; }

 private:
  const TransformerLm& model_;
  ProcessGroup& group_;
  Change change_own_, change_mean_;
  AdamW adamw_{Parameters(model_), AdamWKind::kFused};
};

void MultiplyGradients(const TransformerLm& model, double factor) {
  for (const at::Tensor& one : Parameters(model)) one.grad().mul_(factor);
}

absl::Status Verify(TransformerLm& model, ParallelTrainer& trainer,
                    Precision precision, ProcessGroup& group) {
  TransformerLm whole(Config(), at::dtype(WeightType(precision)));
  return VerifyUpdate(model, trainer, whole, BatchOf(group), precision, group);
}

constexpr Precision kOnCpu[] = {Precision::kFp32, Precision::kBf16Autocast,
                                Precision::kBf16};

class VerifyUpdateTest : public testing::TestWithParam<Precision> {
 protected:
  std::string Message(const Change& mean) {
    at::manual_seed(3);
    TransformerLm model(Config(), at::dtype(WeightType(GetParam())));
    const auto group = ProcessGroup::Fake({});
    Trainer trainer(model, *group, Nothing, mean);
    CheckLog log(/*goes_on=*/true);
    return std::string(
        log.Run([&] { return Verify(model, trainer, GetParam(), *group); })
            .message());
  }
};

// AdamW leaves a parameter without a gradient as it is.
TEST_P(VerifyUpdateTest, ParametersThatStayAreSeen) {
  EXPECT_EQ(Message(Nothing), "");
  EXPECT_THAT(Message([](const TransformerLm& model) {
                model->token_embeddings->weight.mutable_grad().reset();
              }),
              HasSubstr("moves_error "));
  EXPECT_THAT(Message([](const TransformerLm& model) {
                model->ln_final->bias.mutable_grad().reset();
              }),
              HasSubstr("moves_error "));
  // In bf16 a step does not change a weight of 1.
  const bool shows = GetParam() != Precision::kBf16;
  EXPECT_THAT(Message([](const TransformerLm& model) {
                model->ln_final->weight.mutable_grad().reset();
              }),
              HasSubstr(shows ? "moves_error " : ""));
}

TEST_P(VerifyUpdateTest, AMissingDivisionByTheRanksIsSeen) {
  EXPECT_THAT(
      Message([](const TransformerLm& model) { MultiplyGradients(model, 2); }),
      HasSubstr("scale_error 1 >"));
}

INSTANTIATE_TEST_SUITE_P(OnCpu, VerifyUpdateTest, testing::ValuesIn(kOnCpu));

class RankParallelVerification : public RankTest {};

TEST_F(RankParallelVerification, AMissingRankIsSeen) {
  for (const Precision precision : kOnCpu) {
    TransformerLm model = Replica(Config(), *group_);
    model->to(WeightType(precision));
    const double share = group_->rank() == 1 ? 0 : 1;
    const Change own = [share](const TransformerLm& one) {
      MultiplyGradients(one, share);
    };
    Trainer trainer(model, *group_, own, Nothing);
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
