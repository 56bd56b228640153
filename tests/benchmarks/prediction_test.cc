// SPDX-License-Identifier: MIT
// Dry runs of the experiments' cases, compared with real runs.

#include "fixtures/prediction/prediction.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/memory/memory_probe.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

int64_t MeasuredPeak(const std::function<std::unique_ptr<Fixture>()>& build) {
  const auto probe = MakeMemoryProbe(at::kCPU);
  std::unique_ptr<Fixture> fixture;
  const auto call = [&] {
    fixture->Prepare();
    fixture->Call(NoObserver());
  };
  probe->Observe([&] {
    fixture = build();
    call();
  });
  const int64_t peak = probe->MeasurePeak(call).allocated;
  return peak + fixture->UncountedBytes();
}

// Returns the maximum over all ranks.
int64_t MeasuredPeak(const Case& bench_case, ProcessGroup& group) {
  const at::Tensor peak = at::tensor(
      {MeasuredPeak([&] { return bench_case.build_rank(group); })}, at::kLong);
  group.AllReduceMax(peak);
  return peak.item<int64_t>();
}

// Cases of a small model. Attention on the CPU allocates a buffer for each
// thread.
std::vector<Case> QuickCases() {
  at::set_num_threads(1);
  static const Device device = *OpenDevice("cpu");
  RunOptions options;
  options.custom_models = {{"nano", 32, 64, 2, 2, 128}};
  options.axes = {{"model", {"nano"}}, {"seq", {"16"}}};
  return ListCases(options, device);
}

void ExpectPredicted(Case bench_case, int64_t measured) {
  const std::string& name = bench_case.name.text();
  const absl::Status predicted = Predict(*OpenDevice("cpu"), bench_case);
  ASSERT_TRUE(predicted.ok()) << name << ": " << predicted;
  // Cases that choose their work while they are measured have no prediction.
  const int64_t bytes = bench_case.cost.predicted_peak_bytes;
  if (bytes != 0 || measured == 0) {
    EXPECT_EQ(bytes, measured) << name;
  }
  EXPECT_GE(NeededBytes(bench_case.cost), measured) << name;
}

TEST(PredictionTest, OfEachQuickCaseIsWhatItTakes) {
  for (const Case& bench_case : QuickCases()) {
    const bool runs_here = bench_case.build && !bench_case.measure &&
                           bench_case.unavailable.empty();
    if (runs_here) ExpectPredicted(bench_case, MeasuredPeak(bench_case.build));
  }
}

class RankPrediction : public RankTest {};

TEST_F(RankPrediction, OfEachQuickCaseIsWhatItTakes) {
  int cases = 0;
  for (const Case& bench_case : QuickCases()) {
    const auto& plan = bench_case.options.ranks;
    if (!plan || plan->count != group_->size()) continue;
    ExpectPredicted(bench_case, MeasuredPeak(bench_case, *group_));
    ++cases;
  }
  EXPECT_GT(cases, 10);
}

TEST(PredictionTest, OfEachQuickCaseOfTwoRanksIsWhatTheyTake) {
  EXPECT_EQ(RunAsRanks("RankPrediction.*", 2), absl::OkStatus());
}

}  // namespace
}  // namespace trainbench
