// SPDX-License-Identifier: MIT
// Question: What does training on several ranks cost with each strategy of
//   exchanging gradients, and how much of the exchange hides behind the
//   backward pass?
// Expect: All strategies send the same bytes; they differ in calls and overlap.
//   tiny has 39 gradients of 3.6 M parameters, 14 MB. If an all-reduce takes
//   0.2 ms plus 14 MB at 1 GB/s, one flat call takes 14.2 ms and 39 calls take
//   39 * 0.2 + 14 = 22 ms: flat wins as long as its two copies of 14 MB (28 MB
//   at 5 GB/s, 6 ms) cost less than the 38 calls that it saves (7.6 ms). Where
//   communication has its own hardware (GPUs), overlap hides all but the last
//   bucket: overhead = bytes / (n bandwidth) + n alpha, least for buckets of
//   sqrt(bytes * bandwidth * alpha) = sqrt(14 MB * 1 GB/s * 0.2 ms) = 1.7 MB.
//   Ranks on one CPU send with the cores that compute: overlap hides only
//   waiting, so overlap_share stays well below 1. A step then takes as long as
//   ranks that compute side by side, plus what is exposed, and n ranks are no
//   faster than one process that has the whole batch and all cores. Two GPUs
//   are at least 1.6 times as fast as one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "fixtures/steps/data_parallel_step.h"

namespace trainbench {
namespace {

absl::string_view StrategyName(const DataParallelParams& params) {
  if (params.predicts_bucket()) return "overlap_predicted_bucket";
  if (params.strategy) return SyncStrategyName(*params.strategy);
  switch (params.without) {
    case WithoutExchange::kAlone:
      return "alone";
    case WithoutExchange::kSideBySide:
      return "side_by_side";
    case WithoutExchange::kWholeBatch:
      return "whole_batch";
  }
  return "unknown";
}

class Ddp final : public DataParallelStep {
 public:
  using Params = DataParallelParams;
  using DataParallelStep::DataParallelStep;

  static CaseName NameOf(const Params& p) {
    CaseName name("ddp");
    name.Word("strategy", StrategyName(p))
        .Word("model", p.step.model.name)
        .Word("precision", PrecisionName(p.step.precision))
        .Value("ranks", OptionsOf(p).ranks->count);
    if (!p.strategy && p.without == WithoutExchange::kAlone) {
      name.Value("as_one_of", p.ranks);
    }
    if (!p.strategy && p.without == WithoutExchange::kWholeBatch) {
      name.Value("instead_of", p.ranks);
    }
    if (p.bucket_mib > 0) name.Value("bucket_mb", p.bucket_mib);
    return name.Value("batch", p.step.batch).Value("seq", p.step.seq);
  }

  static std::vector<Expectation> Expectations(const Device& device) {
    std::vector<Expectation> expected = {
        {"the time is predicted within 15 %",
         {.counter = "p50_us", .per = "predicted_us"},
         About(1, 0.15)},
        {"one flat call beats one call per parameter",
         {.counter = "p50_us",
          .rows = {{"strategy", "flat"}},
          .versus = {{"strategy", "per_parameter"}}},
         AtMost(1)}};
    if (device.is_cuda()) {
      expected.push_back(
          {"two GPUs are at least 1.6 times as fast as one",
           {.counter = "strong_speedup", .rows = {{"ranks", "2"}}},
           AtLeast(1.6)});
      return expected;
    }
    expected.push_back({"ranks on one CPU hide less than half",
                        {.counter = "overlap_share"},
                        AtMost(0.5)});
    expected.push_back({"ranks on one CPU are no faster than one process",
                        {.counter = "strong_speedup"},
                        AtMost(1)});
    return expected;
  }

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device);
};

struct Exchange {
  std::optional<SyncStrategy> strategy = {};
  int64_t bucket_mib = 0;
  WithoutExchange without = WithoutExchange::kAlone;
};

// The Reducer has PyTorch's default bucket size.
std::vector<Exchange> ExchangesOf(Suite suite) {
  constexpr Exchange kReducer = {SyncStrategy::kReducer, 25};
  if (suite == Suite::kSmoke) return {{}, {SyncStrategy::kOverlapBucketed, 1}};
  std::vector<Exchange> exchanges = {
      {},
      {.without = WithoutExchange::kSideBySide},
      {.without = WithoutExchange::kWholeBatch},
      {SyncStrategy::kPerParameter},
      {SyncStrategy::kFlat},
      {SyncStrategy::kOverlapPerParameter},
      {SyncStrategy::kOverlapBucketed, DataParallelParams::kPredictedBucket}};
  for (const int64_t mib : {1, 10, 100, 1000}) {
    if (mib == 1000 && suite == Suite::kQuick) continue;
    exchanges.push_back({SyncStrategy::kOverlapBucketed, mib});
  }
  exchanges.push_back(kReducer);
  return exchanges;
}

std::vector<Ddp::Params> Ddp::Sweep(const RunOptions& options,
                                    const Device& device) {
  StepAxes axes = DataParallelAxes(options.suite, device);
  if (options.suite == Suite::kPaper) {
    axes.precisions = {Precision::kFp32, Precision::kBf16Autocast};
  }
  // Where a person waits for one GPU, it would have nothing to compare with.
  const bool has_whole_batch =
      !device.is_cuda() || options.suite == Suite::kPaper;
  std::vector<Params> cases;
  for (const StepParams& step : StepGrid(options, axes)) {
    for (const int ranks : RankCounts(options)) {
      for (const Exchange& exchange : ExchangesOf(options.suite)) {
        const bool is_whole_batch =
            exchange.without == WithoutExchange::kWholeBatch;
        if (is_whole_batch && !has_whole_batch) continue;
        Params& params = cases.emplace_back(
            Params{step, exchange.strategy, exchange.without, ranks,
                   exchange.bucket_mib, BackendFor(device)});
        if (is_whole_batch) params.step.batch *= ranks;
      }
    }
  }
  return cases;
}

const bool kRegistered = Register<Ddp>();

}  // namespace
}  // namespace trainbench
