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

// The most bytes during a call, and while the fixture is built and checked.
struct Peaks {
  int64_t timed = 0;
  int64_t untimed = 0;
};

Peaks MeasurePeaks(const std::function<std::unique_ptr<Fixture>()>& build) {
  const auto probe = MakeMemoryProbe(at::kCPU);
  std::unique_ptr<Fixture> fixture;
  const auto call = [&] {
    fixture->Prepare();
    fixture->Call(NoObserver());
  };
  const auto peak_of = [&](const std::function<void()>& work) {
    return probe->MeasurePeak(work).allocated;
  };
  const int64_t before = peak_of([&] {
    at::manual_seed(0);  // the same on all ranks
    fixture = build();
    EXPECT_EQ(fixture->Check(), absl::OkStatus());
    call();
    fixture->Prepare();
  });
  const int64_t timed = peak_of([&] { fixture->Call(NoObserver()); });
  const int64_t after =
      peak_of([&] { EXPECT_EQ(fixture->CheckOutput(), absl::OkStatus()); });
  return {timed + fixture->UncountedBytes(), std::max(before, after)};
}

// Returns the maxima over all ranks.
Peaks MeasurePeaks(const Case& bench_case, ProcessGroup& group) {
  const Peaks mine = MeasurePeaks([&] { return bench_case.build_rank(group); });
  const at::Tensor peaks = at::tensor({mine.timed, mine.untimed}, at::kLong);
  group.AllReduceMax(peaks);
  return {peaks[0].item<int64_t>(), peaks[1].item<int64_t>()};
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

void ExpectPredicted(Case bench_case, const Peaks& measured) {
  const std::string& name = bench_case.name.text();
  const absl::Status predicted = Predict(*OpenDevice("cpu"), bench_case);
  ASSERT_TRUE(predicted.ok()) << name << ": " << predicted;
  const Cost& cost = bench_case.cost;
  // Cases that choose their work while they are measured have no prediction.
  if (cost.predicted_peak_bytes != 0 || measured.timed == 0) {
    EXPECT_EQ(cost.predicted_peak_bytes, measured.timed) << name;
    EXPECT_EQ(cost.untimed_peak_bytes, measured.untimed) << name;
  }
  // So a small case need not be checked dry.
  EXPECT_LT(measured.untimed, 16 * std::max<int64_t>(measured.timed, 4096))
      << name;
  EXPECT_GE(NeededBytes(cost), std::max(measured.timed, measured.untimed))
      << name;
}

TEST(PredictionTest, OfEachQuickCaseIsWhatItTakes) {
  for (const Case& bench_case : QuickCases()) {
    const bool runs_here = bench_case.build && !bench_case.measure &&
                           bench_case.unavailable.empty();
    if (runs_here) ExpectPredicted(bench_case, MeasurePeaks(bench_case.build));
  }
}

class RankPrediction : public RankTest {};

TEST_F(RankPrediction, OfEachQuickCaseIsWhatItTakes) {
  int cases = 0;
  for (const Case& bench_case : QuickCases()) {
    const auto& plan = bench_case.options.ranks;
    if (!plan || plan->count != group_->size()) continue;
    ExpectPredicted(bench_case, MeasurePeaks(bench_case, *group_));
    ++cases;
  }
  EXPECT_GT(cases, 10);
}

TEST(PredictionTest, OfEachQuickCaseOfTwoRanksIsWhatTheyTake) {
  EXPECT_EQ(RunAsRanks("RankPrediction.*", 2), absl::OkStatus());
}

}  // namespace
}  // namespace trainbench
