// SPDX-License-Identifier: MIT
// Recomputation does not change a model.

#include "model/spec/checkpointing.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>
#include <tuple>
#include <vector>

#include "model/nn/dtype.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"
#include "tests/model/training/small_model.h"
#include "tests/support/architectures.h"

namespace trainbench {
namespace {

using enum Checkpointing::Kind;

// For five blocks: each alone, a rest of one, the square root, one segment.
const std::vector<Checkpointing> kChoices = {
    {kAttention}, {kBlocks, 1}, {kBlocks, 2}, {kBlocks}, {kBlocks, 9}};

using Choice = std::tuple<Implementation, AttentionKind, Precision>;

class CheckpointingTest : public testing::TestWithParam<Choice> {
 protected:
  static Precision precision() { return std::get<2>(GetParam()); }

  static TransformerLm MakeModel(const Checkpointing& checkpointing,
                                 ModelConfig (*architecture)(ModelConfig)) {
    ModelConfig config = architecture(
        SmallConfig(std::get<0>(GetParam()), std::get<1>(GetParam())));
    config.layers = 5;
    config.checkpointing = checkpointing;
    return SeededModel(config, WeightType(precision()));
  }

  // Recomputed blocks need not be tested of each kind of attention again.
  static std::vector<Checkpointing> Choices(bool is_shared) {
    const AttentionKind attention = std::get<1>(GetParam());
    const bool is_further = attention == AttentionKind::kTiled ||
                            attention == AttentionKind::kSdpaMath;
    return is_shared || is_further ? std::vector<Checkpointing>{{kAttention}}
                                   : kChoices;
  }

  const MatmulScope matmul_{precision()};
};

TEST_P(CheckpointingTest, LogitsLossAndGradientsAreTheSameToTheLastBit) {
  at::manual_seed(2);
  const Batch batch = RandomBatch(90, 2, 11, at::kCPU);
  const auto logits_of = [&](TransformerLm& model) {
    return RunStep(StepMode::kInference, model, nullptr, batch, precision());
  };
  for (const auto architecture : {Unchanged, Shared}) {
    TransformerLm plain = MakeModel({}, architecture);
    const at::Tensor logits = logits_of(plain);
    const at::Tensor expected = ComputeGradients(plain, batch, precision());
    for (const Checkpointing& choice : Choices(architecture == Shared)) {
      SCOPED_TRACE(CheckpointingName(choice));
      TransformerLm model = MakeModel(choice, architecture);
      EXPECT_TRUE(logits_of(model).equal(logits));
      // The second pass reuses the rotary tables of the first.
      for (int i = 0; i < 2; ++i) {
        ReleaseGradients(model);
        const at::Tensor loss = ComputeGradients(model, batch, precision());
        EXPECT_TRUE(loss.equal(expected));
        ExpectEqualGradients(model, plain);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , CheckpointingTest,
    testing::Combine(testing::ValuesIn(kImplementations),
                     testing::Values(AttentionKind::kNaive,
                                     AttentionKind::kTiled,
                                     AttentionKind::kSdpa,
                                     AttentionKind::kSdpaMath,
                                     AttentionKind::kOwn),
                     testing::Values(Precision::kFp32, Precision::kBf16Autocast,
                                     Precision::kBf16)),
    [](const auto& param) {
      return std::string(ImplementationName(std::get<0>(param.param))) + "_" +
             std::string(AttentionName(std::get<1>(param.param))) + "_" +
             std::string(PrecisionName(std::get<2>(param.param)));
    });

}  // namespace
}  // namespace trainbench
