// SPDX-License-Identifier: MIT
// Requirements that every way of training on ranks has to meet.

#include "model/distributed/trainer/parallel_trainer.h"

#include <torch/types.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/accounting/parameters.h"
#include "model/distributed/ddp/data_parallel_trainer.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/distributed/trainer/parallel_verification.h"
#include "model/distributed/zero/sharded_optimizer.h"
#include "model/dry_run/dry_run.h"
#include "model/nn/dtype.h"
#include "tests/model/c10_error.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/model/step_bytes.h"
#include "tests/support/architectures.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

// A rank's model, or its part of the model, and its trainer.
struct Job {
  ProcessGroup* data = nullptr;  // ranks that have the same part
  MeshGroups mesh = {};          // if ranks share the model
  std::unique_ptr<TensorRanks> ranks = {};
  TransformerLm model{nullptr};
  std::unique_ptr<ParallelTrainer> trainer = {};

  // Assembles a parameter of the whole model. All ranks must call it together.
  at::Tensor Whole(const at::Tensor& parameter, at::IntArrayRef sizes) const {
    return ranks ? Assemble(parameter, sizes, *mesh.tensor) : parameter;
  }
};

constexpr AdamWOptions kTrainerAdamW = {.lr = 1e-2, .weight_decay = 0.1};

// The sizes of the embeddings and the blocks are not divisible by four.
ModelConfig TrainedConfig(
    Implementation implementation = Implementation::kTextbook) {
  const ModelConfig config = {.name = "m",
                              .d_model = 18,
                              .d_ff = 35,
                              .layers = 3,
                              .heads = 4,
                              .vocab = 37,
                              .attention = AttentionKind::kNaive,
                              .implementation = implementation,
                              .head_width = 4};
  if (implementation != Implementation::kLibrary) return config;
  // For kLibrary the head has no weight of its own, and the architecture
  // differs in everything else, too.
  ModelConfig gpt = Gpt(config);
  gpt.tied_embeddings = true;
  return gpt;
}

StepParams TrainedStep() {
  return {.model = TrainedConfig(), .batch = 2, .seq = 5};
}

struct Kind {
  std::string name;
  std::function<Job(const ModelConfig& config, ProcessGroup& group)> make;
  int tensor = 1;  // ranks that share a batch
  // Replaces buffers between the first two steps, after they were sent. Gloo's
  // thread may be the last to free one, which memory profiling does not see.
  bool replaces_buckets = false;
  // If ranks are fully sharded.
  std::optional<FullSharding> sharding = {};
  // Its memory and traffic are compared with predictions.
  StepParams step = TrainedStep();
};

constexpr uint64_t kTrainerSeed = 3;

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name << ", " << FormatModel(kind.step.model) << ", "
       << PrecisionName(kind.step.precision) << ", seq " << kind.step.seq;
}

// A model without a trainer. `tensor` ranks share it.
Job Untrained(const ModelConfig& config, ProcessGroup& group, int tensor = 1) {
  Job job = {.data = &group};
  if (tensor == 1) {
    job.model = Replica(config, group, kTrainerSeed);
    return job;
  }
  job.mesh = SplitMesh(group, tensor);
  job.data = job.mesh.data;
  job.ranks = std::make_unique<TensorRanks>(config, *job.mesh.tensor);
  at::manual_seed(kTrainerSeed);
  job.model = MakePart(*job.ranks, {});
  return job;
}

Kind DataParallel(SyncStrategy strategy) {
  return {
      .name = std::string(SyncStrategyName(strategy)),
      .make =
          [=](const ModelConfig& config, ProcessGroup& group) {
            Job job = Untrained(config, group);
            const auto parameters = TrainableParameters(*job.model);
            job.trainer = std::make_unique<DataParallelTrainer>(
                parameters,
                MakeGradientSync({.strategy = strategy, .bucket_bytes = 10000},
                                 parameters, group),
                kTrainerAdamW);
            return job;
          },
      .replaces_buckets = strategy == SyncStrategy::kReducer};
}

Kind DividedOptimizer(OptimizerSharding sharding) {
  return {.name = "optimizer " + std::string(OptimizerShardingName(sharding)),
          .make = [=](const ModelConfig& config, ProcessGroup& group) {
            Job job = Untrained(config, group);
            job.trainer =
                MakeShardedOptimizer(sharding, TrainableParameters(*job.model),
                                     kTrainerAdamW, group);
            return job;
          }};
}

Kind FullyDivided(const FullSharding& sharding,
                  const StepParams& step = TrainedStep(), int tensor = 1) {
  return {.name = "fsdp " + TextOf(sharding),
          .make =
              [=](const ModelConfig& config, ProcessGroup& group) {
                Job job = Untrained(config, group, tensor);
                job.trainer = std::make_unique<FullySharded>(
                    job.model, sharding, WeightType(step.precision),
                    kTrainerAdamW, *job.data);
                return job;
              },
          .tensor = tensor,
          .sharding = sharding,
          .step = step};
}

// Two ranks share each replica.
Kind Shared() {
  return {.name = "tensor",
          .make =
              [](const ModelConfig& config, ProcessGroup& group) {
                Job job = Untrained(config, group, /*tensor=*/2);
                const auto parameters = TrainableParameters(*job.model);
                job.trainer = std::make_unique<DataParallelTrainer>(
                    parameters, MakeGradientSync({}, parameters, *job.data),
                    kTrainerAdamW, [ranks = job.ranks.get()](bool on) {
                      ranks->set_sends(on);
                    });
                return job;
              },
          .tensor = 2};
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const auto strategy : kSyncStrategies) {
    kinds.push_back(DataParallel(strategy));
  }
  for (const auto sharding : kOptimizerShardings) {
    kinds.push_back(DividedOptimizer(sharding));
  }
  for (const FullSharding& sharding : kFullShardings) {
    kinds.push_back(FullyDivided(sharding));
  }
  kinds.push_back(Shared());
  return kinds;
}

Batch RandomBatchOf(int64_t sequences) {
  at::manual_seed(5);
  return RandomBatch(TrainedConfig().vocab, sequences, /*seq=*/5, at::kCPU);
}

class RecordingObserver final : public PhaseObserver {
 public:
  void Enter(Phase phase) override {
    // A phase may be re-entered before the next one begins.
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  }
  std::vector<Phase> phases;
};

std::vector<Phase> PhasesOf(const ParallelTrainer& trainer) {
  std::vector<Phase> phases = {Phase::kForward, Phase::kLoss, Phase::kBackward,
                               Phase::kCommunication, Phase::kOptimizer};
  if (trainer.shares_parameters()) phases.push_back(Phase::kCommunication);
  return phases;
}

at::Tensor Step(Job& job, const Batch& batch) {
  return RunParallelStep(job.model, *job.trainer, batch, Precision::kFp32);
}

// A step of `layers` blocks, which four ranks cannot divide evenly; either
// units or activations dominate its peak.
StepParams UnevenStep(int64_t layers, int64_t seq,
                      Implementation implementation = Implementation::kTextbook,
                      const Checkpointing& checkpointing = {},
                      Precision precision = Precision::kFp32) {
  return {.model = {.name = "m",
                    .d_model = 42,
                    .d_ff = 101,
                    .layers = layers,
                    .heads = 3,
                    .vocab = 301,
                    .attention = AttentionKind::kNaive,
                    .implementation = implementation,
                    .checkpointing = checkpointing},
          .precision = precision,
          .batch = 2,
          .seq = seq};
}

std::vector<StepParams> UnevenSteps() {
  using enum Implementation;
  using enum Checkpointing::Kind;
  std::vector<StepParams> steps;
  for (const Implementation implementation : kImplementations) {
    steps.push_back(UnevenStep(5, 4, implementation));
    steps.push_back(UnevenStep(5, 64, implementation));
    steps.push_back(UnevenStep(5, 32, implementation, {kAttention}));
    steps.push_back(UnevenStep(5, 32, implementation, {kBlocks, 1}));
    steps.push_back(UnevenStep(5, 32, implementation, {kBlocks, 2}));
  }
  steps.push_back(UnevenStep(4, 4, kTextbook, {}, Precision::kBf16));
  steps.push_back(UnevenStep(4, 16, kTextbook, {}, Precision::kBf16Autocast));
  for (const int64_t layers : {1, 2, 3}) {
    steps.push_back(UnevenStep(layers, 8));
  }
  // A tied head is sent with the embeddings.
  for (const auto& architecture : {Unchanged, Gpt}) {
    steps.push_back(UnevenStep(2, 8));
    steps.back().model = Tied(architecture(steps.back().model));
  }
  return steps;
}

// Returns all kinds, and more that are fully sharded.
std::vector<Kind> MeasuredKinds(int ranks) {
  std::vector<Kind> kinds = Kinds();
  for (const Implementation implementation : kImplementations) {
    for (const Checkpointing& checkpointing :
         {Checkpointing{}, Checkpointing{Checkpointing::Kind::kBlocks, 1}}) {
      StepParams step = UnevenStep(3, 32, implementation, checkpointing);
      step.model.d_model = 32;
      step.model.heads = 2;
      kinds.push_back(FullyDivided(kFullShardings[0], step, /*tensor=*/2));
      kinds.push_back(FullyDivided(kFullShardings[3], step, /*tensor=*/2));
    }
  }
  const std::vector<StepParams> steps = UnevenSteps();
  for (const FullSharding& sharding : kFullShardings) {
    kinds.push_back(FullyDivided(sharding, steps[0]));
    kinds.push_back(FullyDivided(sharding, steps[1]));
  }
  // With more ranks only the shards of other steps would differ.
  for (std::size_t i = 2; ranks == 2 && i < steps.size(); ++i) {
    const FullSharding& sharding =
        kFullShardings[i % std::size(kFullShardings)];
    kinds.push_back(FullyDivided(sharding, steps[i]));
  }
  return kinds;
}

// Also compares the traffic of fully sharded ranks with its closed form.
StepBytes BytesOfSteps(const Kind& kind, ProcessGroup& group) {
  const StepParams& params = kind.step;
  const ModelConfig part =
      PartOf(params.model, group.rank() % kind.tensor, kind.tensor);
  SCOPED_TRACE(testing::PrintToString(kind));
  Job job;
  const Batch batch =
      RandomBatch(params.model.vocab, params.batch, params.seq, at::kCPU);
  const auto build = [&] { job = kind.make(params.model, group); };
  const auto step = [&] {
    const CollectiveRecorder recorder(*job.data);
    RunParallelStep(job.model, *job.trainer, batch, params.precision);
    if (!kind.sharding) return;
    EXPECT_EQ(
        recorder.traffic(),
        StepTraffic(part, *kind.sharding, params.precision, job.data->size())
            .shards);
  };
  StepBytes bytes;
  if (kind.replaces_buckets) {
    build();
    for (int i = 0; i < 2; ++i) step();
    bytes = MeasureSteps(
        at::kCPU, [] {}, step, /*warmups=*/0);
  } else {
    bytes = MeasureSteps(at::kCPU, build, step);
  }
  EXPECT_EQ(bytes.after, bytes.resident);
  return bytes;
}

StepBytes DryBytesOfSteps(const Kind& kind, const ProcessGroup& group) {
  const auto without_others = WithoutOthers(group);
  const DryRun dry;
  return BytesOfSteps(kind, *without_others);
}

class RankParallelTrainer : public RankTest {
 protected:
  void ExpectStepsAsOneProcess(const Kind& kind, const ModelConfig& config) {
    SCOPED_TRACE(kind.name + " " + FormatModel(config));
    at::manual_seed(kTrainerSeed);
    TransformerLm alone(config, at::TensorOptions());
    AdamW adamw(Parameters(alone), AdamWKind::kFused, kTrainerAdamW);
    Job job = kind.make(config, *group_);
    ProcessGroup& data = *job.data;
    const Batch whole = RandomBatchOf(2 * data.size());
    for (int step = 0; step < 3; ++step) {
      RecordingObserver observer;
      const at::Tensor loss =
          RunParallelStep(job.model, *job.trainer, ShareOf(whole, data),
                          Precision::kFp32, observer);
      EXPECT_EQ(observer.phases, PhasesOf(*job.trainer));
      const at::Tensor expected =
          RunStep(StepMode::kTrainStep, alone, &adamw, whole, Precision::kFp32);
      data.AllReduce(loss);
      EXPECT_TRUE((loss / data.size()).allclose(expected, 1e-5)) << step;
    }
    job.trainer->Gather();
    EXPECT_EQ(VerifyReplicas(Parameters(job.model), data), absl::OkStatus());
    const auto parts = job.model->named_parameters();
    for (const auto& parameter : alone->named_parameters()) {
      const at::Tensor& part = parts[parameter.key()];
      EXPECT_FALSE(part.grad().defined()) << parameter.key();
      const at::Tensor found = job.Whole(part, parameter.value().sizes());
      // Where a gradient is nearly 0, rounding decides AdamW's direction.
      const at::Tensor far = (found - parameter.value()).abs() > 1e-4;
      EXPECT_LE(far.sum().item<int64_t>(), 2) << parameter.key();
    }
    job.trainer->Free();
  }
};

TEST_F(RankParallelTrainer, StepsAsOneProcess) {
  for (const Kind& kind : Kinds()) {
    for (const Implementation implementation :
         {Implementation::kTextbook, Implementation::kLibrary}) {
      ExpectStepsAsOneProcess(kind, TrainedConfig(implementation));
    }
  }
}

TEST_F(RankParallelTrainer, TakesTheMemoryOfADryRun) {
  for (const Kind& kind : MeasuredKinds(group_->size())) {
    EXPECT_EQ(DryBytesOfSteps(kind, *group_), BytesOfSteps(kind, *group_))
        << testing::PrintToString(kind);
  }
}

// A dry run on a fake group needs no other ranks, so `ranks` may be any number.
StepBytes BytesOnRanks(int ranks, CommBackend backend) {
  const auto group =
      ProcessGroup::Fake({.backend = backend, .rank = 0, .size = ranks});
  return DryBytesOfSteps(
      FullyDivided(kFullShardings[0], UnevenStep(/*layers=*/4, /*seq=*/8)),
      *group);
}

TEST(FullShardingMemoryTest, EachParameterTakes16BytesDividedByTheRanks) {
  const ModelConfig model = UnevenStep(4, 8).model;
  EXPECT_EQ(BytesOnRanks(1, CommBackend::kGloo).built,
            16 * ParameterCount(model) + 4 * 6);
  // Not all units are divisible by five.
  int64_t padded = 0;
  for (const int64_t elements : UnitElements(model, 5)) padded += elements;
  EXPECT_GT(padded, ParameterCount(model));
  EXPECT_EQ(BytesOnRanks(5, CommBackend::kGloo).built, 16 * padded / 5 + 4 * 6);
}

TEST(FullShardingMemoryTest, NcclHasNoBuffersOfOurs) {
  EXPECT_LT(BytesOnRanks(4, CommBackend::kNccl).peak,
            BytesOnRanks(4, CommBackend::kGloo).peak);
}

// A step during which another rank dies. If `loss` is defined, the step has
// begun, and the failure occurs in the backward pass or after it.
struct LastStep {
  std::string name;
  std::unique_ptr<ProcessGroup> group;
  Job job;
  at::Tensor loss;

  void GoOn(const Batch& batch) {
    if (!loss.defined()) {
      Step(job, batch);
      return;
    }
    job.trainer->BeforeBackward();
    Communicate([&] { loss.backward(); });
    job.trainer->Finish();
  }
};

TEST_F(RankParallelTrainer, DISABLED_OneDies) {
  std::vector<LastStep> steps;
  const Batch batch = RandomBatchOf(2);
  for (const Kind& kind : Kinds()) {
    for (const bool begins : {false, true}) {
      const std::string name = kind.name + (begins ? ", backward" : "");
      auto group = NewGroup(name);
      ASSERT_NE(group, nullptr);
      Job job = kind.make(TrainedConfig(), *group);
      at::Tensor loss;
      if (begins) {
        job.trainer->BeforeForward();
        loss = ComputeLoss(job.model, batch, Precision::kFp32);
      }
      steps.push_back({name, std::move(group), std::move(job), loss});
    }
  }
  group_->Barrier();
  if (launch_.rank == 1) std::_Exit(0);
  for (LastStep& step : steps) {
    EXPECT_THROW(step.GoOn(batch), c10::DistError) << step.name;
  }
}

TEST(ParallelTrainerTest, ARankThatDiesIsAnErrorForTheOthers) {
  EXPECT_EQ(RunAsRanks("RankParallelTrainer.DISABLED_OneDies", 2),
            absl::OkStatus());
}

class OneOfFourTest : public testing::TestWithParam<Kind> {
 protected:
  // Returns the collective calls of `work`, a step or a part of one.
  std::vector<CollectiveCall> CallsOf(const std::function<void()>& work) {
    std::deque<CollectiveRecorder> recorders;
    recorders.emplace_back(*group_);
    if (job_.ranks) {
      recorders.emplace_back(*job_.mesh.tensor);
      recorders.emplace_back(*job_.mesh.data);
    }
    work();
    std::vector<CollectiveCall> calls;
    for (const CollectiveRecorder& recorder : recorders) {
      calls.insert(calls.end(), recorder.calls().begin(),
                   recorder.calls().end());
    }
    return calls;
  }

  const std::unique_ptr<ProcessGroup> group_ =
      ProcessGroup::Fake({.backend = CommBackend::kGloo, .rank = 0, .size = 4});
  Job job_ = GetParam().make(TrainedConfig(), *group_);
  const Batch batch_ = RandomBatchOf(2);
};

// Otherwise the time of the update would include communication.
TEST_P(OneOfFourTest, TheUpdateSendsNothing) {
  EXPECT_THAT(CallsOf([&] {
                ComputeMeanGradients(job_.model, *job_.trainer, batch_,
                                     Precision::kFp32);
              }),
              Not(IsEmpty()));
  EXPECT_THAT(CallsOf([&] { job_.trainer->Update(); }), IsEmpty());
  EXPECT_EQ(CallsOf([&] { job_.trainer->ShareParameters(); }).empty(),
            !job_.trainer->shares_parameters());
}

TEST_P(OneOfFourTest, WithoutExchangesAStepSendsNothing) {
  Step(job_, batch_);
  const std::size_t calls = CallsOf([&] { Step(job_, batch_); }).size();
  job_.trainer->SetExchanges(false);
  EXPECT_THAT(CallsOf([&] { Step(job_, batch_); }), IsEmpty());
  for (const at::Tensor& parameter : Parameters(job_.model)) {
    EXPECT_FALSE(parameter.grad().defined());
  }
  job_.trainer->SetExchanges(true);
  EXPECT_EQ(CallsOf([&] { Step(job_, batch_); }).size(), calls);
}

INSTANTIATE_TEST_SUITE_P(All, OneOfFourTest, testing::ValuesIn(Kinds()),
                         [](const testing::TestParamInfo<Kind>& kind) {
                           std::string name;
                           for (const char c : kind.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });

TEST(ParallelTrainerTest, WithoutExchangesItStepsOnThisRanksGradients) {
  const auto group = ProcessGroup::Fake({.rank = 0, .size = 2});
  const Batch batch = RandomBatchOf(2);
  for (const Kind& kind : Kinds()) {
    if (kind.sharding || kind.tensor > 1) continue;
    at::manual_seed(kTrainerSeed);
    TransformerLm alone(TrainedConfig(), at::TensorOptions());
    AdamW adamw(Parameters(alone), AdamWKind::kFused, kTrainerAdamW);
    Job job = kind.make(TrainedConfig(), *group);
    if (job.trainer->shares_parameters()) continue;  // updates a part
    job.trainer->SetExchanges(false);
    for (int step = 0; step < 2; ++step) {
      Step(job, batch);
      RunStep(StepMode::kTrainStep, alone, &adamw, batch, Precision::kFp32);
    }
    for (std::size_t i = 0; i < Parameters(alone).size(); ++i) {
      EXPECT_TRUE(Parameters(job.model)[i].equal(Parameters(alone)[i]))
          << kind.name << " " << i;
    }
  }
}

TEST(ParallelTrainerTest, AMissingGradientIsAnErrorThatNamesIt) {
  const auto group = ProcessGroup::Fake({});
  for (const Kind& kind : Kinds()) {
    if (kind.tensor > 1) continue;  // needs two ranks
    Job job = kind.make(TrainedConfig(), *group);
    job.trainer->BeforeForward();
    const at::Tensor loss =
        job.model->token_embeddings(at::zeros({1, 2}, at::kLong)).sum();
    job.trainer->BeforeBackward();
    loss.backward();
    EXPECT_THAT(ErrorOf([&] { job.trainer->Finish(); }),
                HasSubstr("parameter 1 [18] has no gradient on rank 0"))
        << kind.name;
  }
}

}  // namespace
}  // namespace trainbench
