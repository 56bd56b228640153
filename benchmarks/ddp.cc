// SPDX-License-Identifier: MIT
// Question: What does data-parallel training cost with each strategy of
//   exchanging gradients, and how much of the exchange is hidden behind the
//   backward pass?
// Expect: All strategies send the same bytes; they differ in calls and overlap.
//   tiny has 39 gradients of 3.6 M parameters, 14 MB. If an all-reduce takes
//   0.3 ms plus its bytes at 2 GB/s (all_reduce.cc), one flat call takes 7.3 ms
//   and 39 calls take 39 * 0.3 + 7 = 19 ms. So flat beats one call per
//   parameter as long as its two copies of 14 MB (28 MB at 5 GB/s, 6 ms) cost
//   less than the 38 calls that it saves (11 ms). On one CPU it saves more:
//   within a step a call takes 1.5 ms, as a rank sleeps until the other one
//   arrives. A step takes as long as ranks computing side by side, plus exposed
//   communication. On GPUs, where communication has its own hardware, overlap
//   hides all but the last bucket: k buckets cost bytes / (k bandwidth) + k
//   alpha, least for buckets of sqrt(bytes * bandwidth * alpha) = sqrt(14 MB *
//   2 GB/s * 0.3 ms) = 2.9 MB. Two GPUs are at least 1.6 times as fast as one.
//   Ranks on one CPU send with the cores that compute. Overlap hides only
//   waiting, so overlap_share stays below 0.5, and n ranks are no faster than
//   one process with the whole batch and all cores.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/parallel/data_parallel_step.h"

namespace trainbench {
namespace {

class Ddp : public DataParallelStep {
 public:
  using DataParallelStep::DataParallelStep;

  static CaseName NameOf(const Params& p) {
    CaseName name("ddp");
    name.Word("strategy", GradientExchangeName(p.exchange))
        .Word("model", p.step.model.name)
        .Word("precision", PrecisionName(p.step.precision))
        .Value("ranks", p.is_one_process() ? 1 : p.ranks);
    if (p.exchange == GradientExchange::kAlone) {
      name.Value("as_one_of", p.ranks);
    }
    if (p.exchange == GradientExchange::kWholeBatch) {
      name.Value("instead_of", p.ranks);
    }
    if (p.exchange == GradientExchange::kOverlapBucketed ||
        p.exchange == GradientExchange::kReducer) {
      name.Value("bucket_mb", p.bucket_mib);
    }
    return name.Value("batch", p.step.batch).Value("seq", p.step.seq);
  }

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }
};

constexpr char kExchanging[] =
    "per_parameter,flat,overlap_per_parameter,overlap_predicted_bucket,"
    "overlap_bucketed,reducer bucket_mb=1,10,100";

TRAINBENCH_REGISTER(Ddp, "ddp")
    ->Axes(StepAxes<DataParallelParams>(&DataParallelParams::step), {"mode"})
    ->Axis("ranks", &DataParallelParams::ranks, kRankCounts)
    ->Axis("strategy", &DataParallelParams::exchange, GradientExchangeName)
    ->Axis("bucket_mb", &DataParallelParams::bucket_mib, WholeNumbers{1, 4096})
    ->Smoke(
        "model=tiny precision=fp32 batch=1 seq=32 ranks=2 "
        "strategy=alone,overlap_bucketed bucket_mb=1")
    ->SmokeOnGpu(
        "model=small precision=fp32 batch=4 seq=32 ranks=2 "
        "strategy=alone,overlap_bucketed bucket_mb=1")
    ->Quick(
        "model=tiny precision=fp32 batch=1 seq=128 ranks=2 "
        "strategy=alone,side_by_side,whole_batch,per_parameter,flat,"
        "overlap_bucketed bucket_mb=10")
    // The GPU's quick suite omits whole_batch, which with a single GPU would
    // have nothing to be compared with.
    ->QuickOnGpu(
        absl::StrCat("model=small precision=fp32 batch=4 seq=128 ranks=2 "
                     "strategy=alone,side_by_side,",
                     kExchanging))
    ->Full(absl::StrCat("model=tiny precision=fp32 batch=1 seq=128 ranks=2 "
                        "strategy=alone,side_by_side,whole_batch,",
                        kExchanging))
    ->Paper(absl::StrCat(
        "model=tiny,small,xl precision=fp32,bf16_autocast batch=4 seq=128 "
        "ranks=2,4,6 strategy=alone,side_by_side,whole_batch,",
        kExchanging, ",1000"))
    ->Complete([](DataParallelParams& p) {
      if (p.exchange == GradientExchange::kWholeBatch) p.step.batch *= p.ranks;
      // The Reducer has PyTorch's default size.
      if (p.exchange != GradientExchange::kOverlapBucketed) {
        p.bucket_mib = DataParallelParams().bucket_mib;
      }
    })
    ->ExpectOnGpu("the time is predicted within 15 %",
                  Time().Per("predicted_us"), About(1, 0.15))
    ->ExpectOnCpu(
        "the time with few calls is predicted within 15 %",
        Time().Per("predicted_us").Of("strategy=overlap_bucketed bucket_mb=10"),
        About(1, 0.15))
    ->ExpectOnCpu("waiting in each call takes longer than predicted",
                  Time().Per("predicted_us").Of("strategy=per_parameter"),
                  AtLeast(1.15))
    ->Expect("one flat call beats one call per parameter",
             Time().Of("strategy=flat").Versus("strategy=per_parameter"),
             AtMost(1))
    ->ExpectOnGpu("two GPUs are at least 1.6 times as fast as one",
                  Counter("strong_speedup").Of("ranks=2"), AtLeast(1.6))
    ->ExpectOnCpu("ranks on one CPU hide less than half",
                  Counter("overlap_share"), AtMost(0.5))
    ->ExpectOnCpu("ranks on one CPU are no faster than one process",
                  Counter("strong_speedup"), AtMost(1));

}  // namespace
}  // namespace trainbench
