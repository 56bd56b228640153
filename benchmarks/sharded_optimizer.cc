// SPDX-License-Identifier: MIT
// Question: How much memory does a rank save by keeping only its shard of
//   AdamW's state (ZeRO-1), and how much time does that cost?
// Expect: With n = 2 a rank keeps 12 instead of 16 bytes per parameter, a
//   quarter less, plus activations: fp32 parameters, gradients and two moments
//   take 4 + 4 + 8 bytes, and on n ranks the state takes 8 / n. Each rank
//   updates 1/n of the parameters, so with n = 2 the update, without
//   communication, takes half as long. Sharded sends as much as replicated:
//   reduce-scatter and all-gather are the two halves of an all-reduce, together
//   2 (n-1)/n of the bytes. Broadcast sends half as much again, 3 (n-1)/n, in
//   one call per tensor. So its step is slower by half of the all-reduce's time
//   and, on tiny, by the latency of 38 calls.

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/parallel/sharded_step.h"

namespace trainbench {
namespace {

OptimizerSharding& Sharding(ShardedParams& p) {
  return p.replicas ? *p.replicas : p.replicas.emplace();
}

TRAINBENCH_DEFINE_F(ShardedStep, Optimizer)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(ShardedStep, Optimizer,
                      "sharded_optimizer/sharding/model/ranks/batch/seq")
    ->Axes(StepAxes<ShardedParams>(&ShardedParams::step), {"precision", "mode"})
    ->Axis("ranks", &ShardedParams::ranks, kRankCounts)
    ->Axis("sharding", Sharding, OptimizerShardingName)
    ->Smoke("model=tiny batch=1 seq=32 ranks=2")
    ->SmokeOnGpu("model=small batch=4 seq=32 ranks=2")
    ->Quick("sharding=replicated,sharded model=tiny batch=1 seq=128 ranks=2")
    ->QuickOnGpu("model=small batch=4 seq=128 ranks=2")
    ->Full("model=tiny batch=1 seq=128 ranks=2")
    ->Paper("model=tiny,small,xl batch=4 seq=128 ranks=2,4,6")
    ->Expect("two ranks keep half of the state each",
             Counter("state_bytes")
                 .Of("sharding=sharded ranks=2")
                 .Versus("sharding=replicated"),
             About(0.5, 0.02))
    ->Expect("two ranks update in half of the time",
             Counter("optimizer_us")
                 .Of("sharding=sharded ranks=2")
                 .Versus("sharding=replicated"),
             About(0.5, 0.25))
    ->Expect("sharded exchanges for as long as replicated",
             Counter("communication_us")
                 .Of("sharding=sharded ranks=2")
                 .Versus("sharding=replicated"),
             About(1, 0.25))
    ->Expect("sharded sends as many bytes as replicated",
             Counter("sent_bytes")
                 .Of("sharding=sharded ranks=2")
                 .Versus("sharding=replicated"),
             About(1, 1e-4))
    ->Expect("broadcast sends half as many more",
             Counter("sent_bytes")
                 .Of("sharding=broadcast ranks=2")
                 .Versus("sharding=replicated"),
             About(1.5, 0.02))
    ->Expect(
        "broadcast takes longer than replicated",
        Time().Of("sharding=broadcast ranks=2").Versus("sharding=replicated"),
        AtLeast(1));

}  // namespace
}  // namespace trainbench
