// SPDX-License-Identifier: MIT
// Question: How much memory does a rank save by keeping only its shard of
//   AdamW's state, and how much time does that cost?
// Expect: fp32 parameters, gradients and two moments take 4 + 4 + 8 bytes per
//   parameter. On n ranks the state takes 8 / n: with n = 2 a rank keeps 12
//   instead of 16 bytes per parameter, a quarter less, beside the activations.
//   Sharded (ZeRO-1) sends as much as replicated: reduce-scatter and all-gather
//   are the two halves of an all-reduce, together 2 (n-1)/n of the bytes.
//   Broadcast sends half as much again, 3 (n-1)/n, in one call per tensor, so
//   its step is slower by half of the all-reduce's time and, on tiny, by the
//   latency of 38 calls. Each rank updates 1/n of the parameters, so with n = 2
//   the update, without what it sends, takes half as long.

#include <string>
#include <utility>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "fixtures/steps/data_parallel_step.h"
#include "fixtures/steps/sharded_step.h"

namespace trainbench {
namespace {

class ShardedOptimizer final : public ShardedStep {
 public:
  using Params = ShardedParams;
  using ShardedStep::ShardedStep;

  static CaseName NameOf(const Params& p) {
    return CaseName("sharded_optimizer")
        .Word("sharding", OptimizerShardingName(p.sharding))
        .Word("model", p.step.model.name)
        .Value("ranks", p.ranks)
        .Value("batch", p.step.batch)
        .Value("seq", p.step.seq);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto versus_replicated = [](const std::string& counter,
                                      const std::string& sharding) {
      return Quantity{.counter = counter,
                      .rows = {{"sharding", sharding}, {"ranks", "2"}},
                      .versus = {{"sharding", "replicated"}}};
    };
    return {{"two ranks keep half of the state each",
             versus_replicated("state_bytes", "sharded"), About(0.5, 0.02)},
            {"two ranks update in half of the time",
             versus_replicated("optimizer_us", "sharded"), About(0.5, 0.25)},
            {"sharded exchanges for as long as replicated",
             versus_replicated("communication_us", "sharded"), About(1, 0.25)},
            {"sharded sends as many bytes as replicated",
             versus_replicated("sent_bytes", "sharded"), About(1, 1e-4)},
            {"broadcast sends half as many more",
             versus_replicated("sent_bytes", "broadcast"), About(1.5, 0.02)},
            {"broadcast takes longer than replicated",
             versus_replicated("p50_us", "broadcast"), AtLeast(1)}};
  }

  static SweepPlan<Params> Sweep() {
    std::vector<Axis<Params>> axes =
        StepAxes<Params>(&Params::step, {"precision", "mode"});
    axes.emplace_back("ranks", &Params::ranks, WholeNumbers{1, kMostRanks});
    axes.emplace_back("sharding", &Params::sharding, kOptimizerShardings,
                      OptimizerShardingName);
    const std::string all = "sharding=replicated,sharded,broadcast ";
    const std::string tiny = "model=tiny batch=1 seq=128 ranks=2";
    return {
        .axes = std::move(axes),
        .grids = {.smoke = {all + "model=tiny batch=1 seq=32 ranks=2"},
                  .smoke_gpu = {all + "model=small batch=4 seq=32 ranks=2"},
                  .quick = {"sharding=replicated,sharded " + tiny},
                  .quick_gpu = {all + "model=small batch=4 seq=128 ranks=2"},
                  .full = {all + tiny},
                  .paper = {all + "model=tiny,small,xl batch=4 seq=128 "
                                  "ranks=2,4,6"}},
        .complete = [](Params& p, const RunOptions&, const Device& device) {
          p.step.precision = Precision::kFp32;
          p.step.mode = StepMode::kTrainStep;
          p.backend = BackendFor(device);
          return true;
        }};
  }
};

const bool kShardedOptimizerRegistered = Register<ShardedOptimizer>();

}  // namespace
}  // namespace trainbench
