// SPDX-License-Identifier: MIT
// Question: Does training on several ranks give the same model as one process
//   with the whole batch?
// Expect: The mean over n equal shares of a batch is the mean over the batch,
//   so only the order of the sums differs. Each of a few additions rounds by
//   2^-24 of a gradient below 1, and 5 steps of SGD with a rate of 0.1 move a
//   parameter by at most 0.5 of that: no parameter and no loss differs by more
//   than 1e-6, with any strategy. A strategy that forgot the mean, or sent a
//   gradient too early, would be off by the size of a step, 1e-2.

#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "fixtures/steps/data_parallel_step.h"
#include "fixtures/steps/toy_training.h"

namespace trainbench {
namespace {

class DdpEquivalence final : public ToyTraining {
 public:
  using Params = ToyTrainingParams;
  using ToyTraining::ToyTraining;

  static CaseName NameOf(const Params& p) {
    return CaseName("ddp_equivalence")
        .Word("strategy", SyncStrategyName(p.strategy))
        .Value("ranks", p.ranks)
        .Value("steps", kSteps);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    return {{"no parameter differs by more than 1e-6",
             {.counter = "max_difference"},
             AtMost(1e-6)},
            {"no loss differs by more than 1e-6",
             {.counter = "loss_difference"},
             AtMost(1e-6)}};
  }

  static SweepPlan<Params> Sweep() {
    return {.axes = {{"strategy", &Params::strategy, kSyncStrategies,
                      SyncStrategyName},
                     {"ranks", &Params::ranks, {1, kMostRanks}}},
            .grids = {.smoke = {"strategy=per_parameter ranks=2"},
                      .quick = {"strategy=overlap_bucketed ranks=2"},
                      .full = {"strategy=per_parameter,overlap_bucketed "
                               "ranks=2"},
                      .paper = {"strategy=per_parameter,flat,"
                                "overlap_per_parameter,overlap_bucketed,"
                                "reducer ranks=2,4,6"}},
            .complete = [](Params& p, const RunOptions&, const Device& device) {
              p.backend = BackendFor(device);
              return true;
            }};
  }
};

const bool kDdpEquivalenceRegistered = Register<DdpEquivalence>();

}  // namespace
}  // namespace trainbench
