// SPDX-License-Identifier: MIT
// A model shared by ranks, compared with the same model on one process.

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/distributed/trainer/parallel_verification.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "model/verification/relative_error.h"
#include "tests/model/c10_error.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/model/training/small_model.h"
#include "tests/support/architectures.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

// Two and four ranks divide its key/value heads evenly, too. Each rank has the
// same words of the embeddings and of the head, which are tied.
ModelConfig GroupedAndTied(Implementation implementation) {
  ModelConfig config = MeshConfig(implementation);
  config.heads = 12;
  config.kv_heads = 4;
  config.tied_embeddings = true;
  return config;
}

constexpr uint64_t kSeed = 3;

class RankTensorParallel : public RankTest {
 protected:
  TransformerLm MakeWhole(const ModelConfig& config, at::ScalarType dtype) {
    at::manual_seed(kSeed);
    return TransformerLm(config, at::dtype(dtype));
  }
  TransformerLm MakePartOf(TensorRanks& ranks, at::ScalarType dtype) {
    at::manual_seed(kSeed);
    return MakePart(ranks, at::dtype(dtype));
  }
  Batch SameBatch(int64_t sequences) {
    at::manual_seed(11);
    return RandomBatch(37, sequences, 7, at::kCPU);
  }
};

// Sets biases, which would add up if each rank added a whole bias.
void FillBiases(const TransformerLm& model) {
  const at::NoGradGuard no_grad;
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.key().ends_with(".bias")) parameter.value().fill_(0.3);
  }
}

struct Limits {
  double loss, gradient, parameter;
};

// Compares the gradients of `part` with the matching part of those in `whole`.
void ExpectPartOfGradients(const TransformerLm& part,
                           const TransformerLm& whole,
                           const ProcessGroup& group, double limit) {
  const auto expected = whole->named_parameters();
  for (const auto& parameter : part->named_parameters()) {
    const at::Tensor& gradient = parameter.value().grad();
    ASSERT_TRUE(gradient.defined()) << parameter.key();
    EXPECT_LE(RelativeError(gradient, PartOf(expected[parameter.key()].grad(),
                                             gradient.sizes(), group)),
              limit)
        << parameter.key();
  }
}

TEST_F(RankTensorParallel, APartHasTheWeightsOfTheWholeModel) {
  for (const Implementation implementation : kImplementations) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      const ModelConfig config = MeshConfig(implementation);
      const TransformerLm whole = MakeWhole(config, dtype);
      const at::Tensor next = at::rand({3});
      TensorRanks ranks(config, *group_);
      const TransformerLm part = MakePartOf(ranks, dtype);
      EXPECT_TRUE(at::rand({3}).equal(next)) << "the generator goes on";
      const auto expected = whole->named_parameters();
      const auto found = part->named_parameters();
      ASSERT_EQ(found.keys(), expected.keys());
      int64_t divided = 0;
      for (const auto& parameter : found) {
        const at::Tensor& of_whole = expected[parameter.key()];
        EXPECT_TRUE(parameter.value().equal(
            PartOf(of_whole, parameter.value().sizes(), *group_)))
            << parameter.key();
        divided += parameter.value().numel() < of_whole.numel() ? 1 : 0;
      }
      EXPECT_EQ(divided, 2 * 7 + 2) << "all but the norms";
      ExpectAssembled(part, whole, *group_, 0);
    }
  }
}

TEST_F(RankTensorParallel, StepsAsTheWholeModel) {
  struct Numbers {
    Precision precision;
    Limits limits;
  };
  for (const Implementation implementation : kImplementations) {
    for (const auto& [precision, limits] :
         {Numbers{Precision::kFp32, {1e-6, 1e-5, 1e-4}},
          Numbers{Precision::kBf16Autocast, {1e-2, 3e-2, 1e-2}},
          Numbers{Precision::kBf16, {2e-2, 8e-2, 2e-2}}}) {
      SCOPED_TRACE(std::string(ImplementationName(implementation)) + " " +
                   std::string(PrecisionName(precision)));
      const ModelConfig config = MeshConfig(implementation);
      TensorRanks ranks(config, *group_);
      TransformerLm part = MakePartOf(ranks, WeightType(precision));
      TransformerLm whole = MakeWhole(config, WeightType(precision));
      AdamW optimizer(Parameters(part), AdamWKind::kFused);
      AdamW optimizer_of_whole(Parameters(whole), AdamWKind::kFused);
      const Batch batch = SameBatch(3);
      for (int step = 0; step < 3; ++step) {
        const auto loss =
            ComputeGradients(part, batch, precision).item<double>();
        const auto expected =
            ComputeGradients(whole, batch, precision).item<double>();
        EXPECT_NEAR(loss, expected, limits.loss * expected) << step;
        ExpectPartOfGradients(part, whole, *group_, limits.gradient);
        optimizer.Step();
        optimizer_of_whole.Step();
        ReleaseGradients(part);
        ReleaseGradients(whole);
      }
      ExpectAssembled(part, whole, *group_, limits.parameter);
      // Replicated parameters stay bitwise equal.
      EXPECT_TRUE(
          VerifyReplicas({part->ln_final->weight, part->layers[0]->ln2->weight},
                         *group_)
              .ok());
    }
  }
}

// The ranks repeat the sums of recomputed blocks.
TEST_F(RankTensorParallel, RecomputedBlocksHaveTheSameGradientsToTheBit) {
  for (const Implementation implementation : kImplementations) {
    for (const Precision precision :
         {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
      SCOPED_TRACE(std::string(ImplementationName(implementation)) + " " +
                   std::string(PrecisionName(precision)));
      ModelConfig config = MeshConfig(implementation);
      TensorRanks ranks(config, *group_);
      TransformerLm kept = MakePartOf(ranks, WeightType(precision));
      config.checkpointing = {Checkpointing::Kind::kBlocks, /*every=*/1};
      TensorRanks ranks_again(config, *group_);
      TransformerLm again = MakePartOf(ranks_again, WeightType(precision));
      const Batch batch = SameBatch(3);
      const auto loss = [&](TransformerLm& model) {
        return ComputeGradients(model, batch, precision);
      };
      EXPECT_TRUE(loss(again).equal(loss(kept)));
      ExpectEqualGradients(again, kept);
    }
  }
}

// Without rounding errors, the result must be the whole model's.
TEST_F(RankTensorParallel, InFloat64ItIsTheWholeModel) {
  for (const ModelConfig& config :
       {MeshConfig(Implementation::kTextbook),
        MeshConfig(Implementation::kLibrary),
        GroupedAndTied(Implementation::kTextbook),
        Gpt(MeshConfig(Implementation::kLibrary)),
        Biased(MeshConfig(Implementation::kTextbook))}) {
    TensorRanks ranks(config, *group_);
    TransformerLm part = MakePartOf(ranks, at::kDouble);
    TransformerLm whole = MakeWhole(config, at::kDouble);
    FillBiases(part);
    FillBiases(whole);
    const Batch batch = SameBatch(2);
    const auto loss = ComputeGradients(part, batch, Precision::kFp32);
    const auto of_whole = ComputeGradients(whole, batch, Precision::kFp32);
    EXPECT_LE(RelativeError(loss, of_whole), 1e-14);
    ExpectPartOfGradients(part, whole, *group_, 1e-12);
  }
}

TEST_F(RankTensorParallel, TheLossOfAllWordsNeedsNoRankToSeeThem) {
  const ModelConfig config = MeshConfig(Implementation::kTextbook);
  TensorRanks ranks(config, *group_);
  const IndexRange words = PartOf(config.vocab, group_->rank(), group_->size());
  at::manual_seed(5);
  // The exponentials of such logits would overflow fp32.
  at::Tensor logits = at::randn({3, 4, 37}) * 20 + 300;
  const at::Tensor targets = at::randint(37, {3, 4}, at::kLong);
  at::Tensor exact = logits.to(at::kDouble).requires_grad_();
  const at::Tensor expected =
      at::cross_entropy_loss(exact.flatten(0, 1), targets.flatten());
  (2 * expected).backward();
  const at::Tensor of_words =
      logits.narrow(-1, words.first, words.count).clone().requires_grad_();
  const at::Tensor loss = ranks.CrossEntropy(of_words.clone(), targets);
  EXPECT_LE(RelativeError(loss, expected), 1e-6);
  (2 * loss).backward({}, /*retain_graph=*/true);
  EXPECT_LE(RelativeError(of_words.grad(),
                          exact.grad().narrow(-1, words.first, words.count)),
            1e-5);
  EXPECT_THROW(loss.backward(), c10::Error) << "the logits are overwritten";
}

TEST(TensorParallelTest, OneRankHasTheWholeModelAndSendsNothing) {
  const auto alone = ProcessGroup::Fake({});
  const CollectiveRecorder recorder(*alone);
  const ModelConfig config = MeshConfig(Implementation::kLibrary);
  TensorRanks ranks(config, *alone);
  at::manual_seed(kSeed);
  TransformerLm part = MakePart(ranks, at::TensorOptions());
  at::manual_seed(kSeed);
  TransformerLm whole(config, at::TensorOptions());
  const Batch batch = RandomBatch(37, 2, 5, at::kCPU);
  const at::Tensor loss = ComputeGradients(part, batch, Precision::kFp32);
  const at::Tensor expected = ComputeGradients(whole, batch, Precision::kFp32);
  EXPECT_LE(RelativeError(loss, expected), 1e-6);
  ExpectPartOfGradients(part, whole, *alone, 1e-5);
  EXPECT_THAT(recorder.calls(), IsEmpty());
}

TEST(TensorParallelTest, RanksThatDoNotDivideTheHeadsAreAnError) {
  const auto three = ProcessGroup::Fake({.size = 3});
  EXPECT_THAT(ErrorOf([&] {
                TensorRanks(MeshConfig(Implementation::kTextbook), *three);
              }),
              AllOf(HasSubstr("3 ranks"), HasSubstr("4 heads")));
}

TEST(TensorParallelTest, AMeshHasRowsOfOneLength) {
  const auto group = ProcessGroup::Fake({.rank = 5, .size = 6});
  const MeshGroups mesh = SplitMesh(*group, 2);
  EXPECT_EQ(mesh.tensor->size(), 2);
  EXPECT_EQ(mesh.tensor->rank(), 1);
  EXPECT_EQ(mesh.data->size(), 3);
  EXPECT_EQ(mesh.data->rank(), 2);
  EXPECT_THROW(SplitMesh(*group, 4), c10::Error);
}

TEST(TensorParallelTest, AnIndirectSummandIsRefused) {
  const auto two = ProcessGroup::Fake({.size = 2});
  TensorRanks ranks(MeshConfig(Implementation::kTextbook), *two);
  EXPECT_THROW(ranks.Leave(at::ones({2, 3}).t()), c10::Error);
  EXPECT_THROW(ranks.CrossEntropy(at::ones({2, 3}), at::zeros({2}, at::kLong)),
               c10::Error)
      << "three logits of 19 words";
}

}  // namespace
}  // namespace trainbench
