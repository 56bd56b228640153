// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/gradient_sync.h"

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/c10_error.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

// Buckets as large as in the assignment's tests: 0.0001, 0.0016 and 0.01 MB.
std::vector<SyncOptions> AllOptions() {
  std::vector<SyncOptions> all;
  for (const SyncStrategy strategy : kSyncStrategies) {
    const bool has_buckets = strategy == SyncStrategy::kOverlapBucketed ||
                             strategy == SyncStrategy::kReducer;
    for (const int64_t bytes : {100, 1600, 10000}) {
      all.push_back({.strategy = strategy, .bucket_bytes = bytes});
      if (!has_buckets) break;
    }
  }
  return all;
}

std::string Describe(const SyncOptions& options) {
  return c10::str(std::string(SyncStrategyName(options.strategy)), " with ",
                  options.bucket_bytes, " bytes per bucket");
}

void ComputeGradients(ParallelModel& model, const ParallelData& data,
                      GradientSync& sync) {
  sync.BeforeForward();
  const at::Tensor loss = LossOf(model, data);
  sync.BeforeBackward();
  loss.backward();
  sync.Finish();
}

// Clones the gradients after a step; undefined ones stay undefined.
std::vector<at::Tensor> Gradients(const ParallelModel& model) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : TrainableParameters(model)) {
    const at::Tensor& gradient = parameter.grad();
    gradients.push_back(gradient.defined() ? gradient.clone() : at::Tensor());
  }
  return gradients;
}

class RankGradientSync : public RankTest {
 protected:
  int rank() const { return launch_.rank; }

  // Builds a model that is seeded by rank, then made equal on all ranks. Two
  // calls give equal models.
  std::unique_ptr<ParallelModel> Build() {
    at::manual_seed(static_cast<uint64_t>(rank()));
    auto model = std::make_unique<ParallelModel>();
    BroadcastModel(*model, *group_);
    return model;
  }

  std::unique_ptr<GradientSync> Sync(const SyncOptions& options,
                                     const ParallelModel& model) {
    return MakeGradientSync(options, TrainableParameters(model), *group_);
  }

  ParallelData MyPart() const { return data_.Part(rank(), launch_.world_size); }

  const ParallelData data_ = ParallelData::Make();
};

TEST_F(RankGradientSync, FinishWithoutBackwardIsAnError) {
  const auto model = Build();
  for (const SyncOptions& options : AllOptions()) {
    const auto sync = Sync(options, *model);
    EXPECT_NE(ErrorOf([&] { sync->Finish(); }), "no error")
        << Describe(options);
    ComputeGradients(*model, MyPart(), *sync);
    model->zero_grad();
    EXPECT_NE(ErrorOf([&] { sync->Finish(); }), "no error")
        << Describe(options);
  }
}

// Runs two micro-batches, then Finish().
TEST_F(RankGradientSync, ASecondBackwardAddsUpOrIsAnError) {
  for (const SyncOptions& options : AllOptions()) {
    const auto model = Build(), alone = Build();
    LossOf(*alone, data_).backward();
    LossOf(*alone, data_).backward();
    const auto sync = Sync(options, *model);
    const std::string error = ErrorOf([&] {
      for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
        const at::Tensor loss = LossOf(*model, MyPart());
        sync->BeforeBackward();
        loss.backward();
      }
      sync->Finish();
    });
    if (options.strategy == SyncStrategy::kOverlapPerParameter ||
        options.strategy == SyncStrategy::kOverlapBucketed) {
      EXPECT_THAT(error, HasSubstr("second gradient"));
    } else {
      ASSERT_EQ(error, "no error") << Describe(options);
      const auto expected = Gradients(*alone), found = Gradients(*model);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(found[i].allclose(expected[i], 1e-5, 1e-6))
            << Describe(options);
      }
    }
    group_->Barrier();
  }
}

TEST_F(RankGradientSync, HooksGoWithTheObject) {
  const auto model = Build();
  const auto parameters = TrainableParameters(*model);
  for (const SyncOptions& options : AllOptions()) {
    Sync(options, *model).reset();
    // Runs on one rank: a leftover hook would wait for or send to the others.
    if (rank() == 0) LossOf(*model, data_).backward();
    model->zero_grad();
  }
  const SyncOptions overlap = {.strategy = SyncStrategy::kOverlapBucketed};
  const auto first = Sync(overlap, *model);
  EXPECT_THAT(ErrorOf([&] { Sync(overlap, *model); }),
              HasSubstr("parameter 0 [10, 10] has a hook"));
  ComputeGradients(*model, MyPart(), *first);
}

TEST_F(RankGradientSync, UnsuitableParametersAreRefused) {
  const auto model = Build();
  const auto error = [&](std::vector<at::Tensor> parameters) {
    return ErrorOf([&] { MakeGradientSync({}, parameters, *group_); });
  };
  EXPECT_THAT(error({}), HasSubstr("no parameter"));
  EXPECT_THAT(error({at::ones({2})}),
              HasSubstr("parameter 0 [2] is not a lea"));
  std::vector<at::Tensor> twice = TrainableParameters(*model);
  twice.push_back(twice[1]);
  EXPECT_THAT(error(twice), HasSubstr("[50, 10] is listed twice"));
  const at::Tensor transposed = at::ones({2, 3}).t().requires_grad_();
  EXPECT_THAT(error({transposed}), HasSubstr("not contiguous"));
}

// The model has 100, 500, 500 and 250 trainable elements of 4 bytes.
TEST_F(RankGradientSync, TrafficIsCounted) {
  const auto model = Build();
  const auto traffic = [&](SyncStrategy strategy, int64_t bucket_bytes = 3000) {
    const auto sync =
        Sync({.strategy = strategy, .bucket_bytes = bucket_bytes}, *model);
    std::vector<int64_t> numbers;
    for (int step = 0; step < 2; ++step) {  // the same in both steps
      const CollectiveRecorder recorder(*group_);
      ComputeGradients(*model, MyPart(), *sync);
      model->zero_grad();
      const CollectiveCalls sent = recorder.traffic().All();
      numbers = {sent.calls, sent.bytes, sync->CopiedBytes()};
    }
    return numbers;
  };
  using S = SyncStrategy;
  EXPECT_THAT(traffic(S::kPerParameter), ElementsAre(4, 5400, 0));
  EXPECT_THAT(traffic(S::kFlat), ElementsAre(1, 5400, 10800));
  EXPECT_THAT(traffic(S::kOverlapPerParameter), ElementsAre(4, 5400, 0));
  EXPECT_THAT(traffic(S::kOverlapBucketed), ElementsAre(2, 5400, 5400));
  // A gradient alone in its bucket is not copied.
  EXPECT_THAT(traffic(S::kOverlapBucketed, 1000), ElementsAre(4, 5400, 0));
  EXPECT_THAT(traffic(S::kReducer), ElementsAre(2, 5400, 5400));
}

TEST(TrainableParametersTest, TakesTiedOnesOnceAndFrozenOnesNot) {
  std::vector<std::vector<int64_t>> shapes;
  for (const at::Tensor& parameter : TrainableParameters(ParallelModel())) {
    shapes.push_back(parameter.sizes().vec());
  }
  using Shape = std::vector<int64_t>;
  EXPECT_THAT(shapes, ElementsAre(Shape{10, 10}, Shape{50, 10}, Shape{10, 50},
                                  Shape{5, 50}));
}

TEST(BucketPlanTest, FillsBucketsFromTheLastTensor) {
  const auto plan = [](const std::vector<int64_t>& floats, int64_t bytes) {
    std::vector<at::Tensor> tensors;
    for (const int64_t n : floats) tensors.push_back(at::empty({n}));
    return PlanBuckets(tensors, bytes);
  };
  EXPECT_THAT(plan({1, 1, 1}, 8),
              ElementsAre(ElementsAre(2, 1), ElementsAre(0)));
  EXPECT_THAT(plan({1, 1, 1}, 12), ElementsAre(ElementsAre(2, 1, 0)));
  // A tensor that is larger than a bucket.
  EXPECT_THAT(plan({1, 9, 1}, 8),
              ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(PlanBuckets({at::empty({1}), at::empty({1}, at::kDouble)}, 100),
              ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(ErrorOf([&] { plan({1}, 0); }), HasSubstr("a bucket of 0 bytes"));
}

}  // namespace
}  // namespace trainbench
