// SPDX-License-Identifier: MIT
// Recomputation does not change a model.

#include "model/spec/checkpointing.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>
#include <tuple>
#include <vector>

#include "model/nn/dtype.h"
#include "model/training/adamw.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"
#include "tests/model/training/small_model.h"

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

  static TransformerLm MakeModel(const Checkpointing& checkpointing) {
    ModelConfig config =
        SmallConfig(std::get<0>(GetParam()), std::get<1>(GetParam()));
    config.layers = 5;
    config.checkpointing = checkpointing;
    return SeededModel(config, WeightType(precision()));
  }

  const MatmulScope matmul_{precision()};
};

TEST_P(CheckpointingTest, LossAndGradientsAreTheSameToTheLastBit) {
  at::manual_seed(2);
  const Batch batch = RandomBatch(90, 2, 11, at::kCPU);
  TransformerLm plain = MakeModel({});
  const at::Tensor expected = ComputeGradients(plain, batch, precision());
  for (const Checkpointing& choice : kChoices) {
    SCOPED_TRACE(CheckpointingName(choice));
    TransformerLm model = MakeModel(choice);
    // The second pass reuses the rotary tables of the first.
    for (int i = 0; i < 2; ++i) {
      ReleaseGradients(model);
      const at::Tensor loss = ComputeGradients(model, batch, precision());
      EXPECT_TRUE(loss.equal(expected));
      ExpectEqualGradients(model, plain);
    }
  }
}

TEST_P(CheckpointingTest, EveryModeComputesTheSame) {
  at::manual_seed(2);
  const Batch batch = RandomBatch(90, 2, 11, at::kCPU);
  for (const StepMode mode : kStepModes) {
    TransformerLm plain = MakeModel({}), model = MakeModel({kBlocks, 2});
    AdamW plain_adamw(Parameters(plain), AdamWKind::kFused);
    AdamW adamw(Parameters(model), AdamWKind::kFused);
    const at::Tensor expected =
        RunStep(mode, plain, &plain_adamw, batch, precision());
    EXPECT_TRUE(
        RunStep(mode, model, &adamw, batch, precision()).equal(expected))
        << StepModeName(mode);
    for (const auto& item : model->named_parameters()) {
      EXPECT_TRUE(item.value().equal(plain->named_parameters()[item.key()]))
          << StepModeName(mode) << " " << item.key();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , CheckpointingTest,
    testing::Combine(testing::ValuesIn(kImplementations),
                     testing::Values(AttentionKind::kNaive,
                                     AttentionKind::kSdpa, AttentionKind::kOwn),
                     testing::Values(Precision::kFp32, Precision::kBf16Autocast,
                                     Precision::kBf16)),
    [](const auto& param) {
      return std::string(ImplementationName(std::get<0>(param.param))) + "_" +
             std::string(AttentionName(std::get<1>(param.param))) + "_" +
             std::string(PrecisionName(std::get<2>(param.param)));
    });

}  // namespace
}  // namespace trainbench
