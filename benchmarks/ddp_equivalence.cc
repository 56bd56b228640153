// SPDX-License-Identifier: MIT
// Question: Does training on several ranks give the same model as one process
//   with the whole batch?
// Expect: No parameter and no loss differs by more than 1e-6, with any
//   strategy. The mean over n equal shares of a batch is the mean over the
//   batch, so only the order of the sums differs. Each of a few additions
//   rounds by 2^-24 of a gradient below 1, and 5 steps of SGD at a rate of 0.1
//   pass on at most 0.5 of that. A strategy that forgot the mean, or sent a
//   gradient too early, would be off by the size of a step, 1e-2.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/parallel/toy_training.h"

namespace trainbench {
namespace {

TRAINBENCH_DEFINE_F(ToyTraining, DdpEquivalence)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(ToyTraining, DdpEquivalence,
                      absl::StrCat("ddp_equivalence/strategy/ranks/steps:",
                                   ToyTraining::kSteps))
    ->Axis("strategy", &ToyTrainingParams::strategy, SyncStrategyName)
    ->Axis("ranks", &ToyTrainingParams::ranks, kRankCounts)
    ->Smoke("strategy=per_parameter ranks=2")
    ->Quick("strategy=overlap_bucketed ranks=2")
    ->Full("strategy=per_parameter,overlap_bucketed ranks=2")
    ->Paper(
        "strategy=per_parameter,flat,overlap_per_parameter,overlap_bucketed,"
        "reducer ranks=2,4,6")
    ->Expect("no parameter differs by more than 1e-6",
             Counter("max_difference"), AtMost(1e-6))
    ->Expect("no loss differs by more than 1e-6", Counter("loss_difference"),
             AtMost(1e-6));

}  // namespace
}  // namespace trainbench
