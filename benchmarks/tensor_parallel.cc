// SPDX-License-Identifier: MIT
// Question: What does it cost, in time and in memory, to split each matrix of a
//   model among n ranks?
// Expect: With two ranks a rank needs half of the memory, and less where the
//   loss is much of it: their loss overwrites the logits, the textbook's copies
//   them. A rank has 1/n of the matrices and of their results, the heads, the
//   hidden layer and the logits; the residual stream and the norms' results
//   stay whole. A step all-reduces B T d values once for the embedding, twice
//   for each of its 2 L sublayers and once for the head. So a rank sends
//   2 (n-1)/n of (4 L + 2) B T d values, or 6 L + 2 if it recomputes blocks,
//   and a few numbers for each token's loss. It computes
//   6 B T (4 d^2 + 3 d d_ff) / n for a layer's matrices. tiny with 4 x 128
//   tokens sends 4.7 MB in 20 calls and computes 3.8 GFLOPs: a rank on one core
//   takes 76 ms at 50 GFLOP/s, sends for 2.4 ms at 2 GB/s, and waits 1.5 ms in
//   each call (ddp.cc): a third of the step, at most half. None of it can be
//   hidden: the next product needs the sum. Two GPUs are faster than one; ranks
//   on one CPU share the cores that one process has for itself. Data-parallel
//   ranks send gradients, whatever the batch; these send activations, in
//   proportion to it.

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/parallel/tensor_parallel_step.h"

namespace trainbench {
namespace {

TRAINBENCH_DEFINE_F(TensorParallelStep, Shared)(State& state) {
  for (auto _ : state) Step(state.phases());
}

// ranks:4/data:2 means two replicas, each shared by two ranks.
TRAINBENCH_REGISTER_F(TensorParallelStep, Shared,
                      "tensor_parallel/model/precision/ranks/data/batch/seq")
    ->Axes(StepAxes<TensorParallelParams>(&TensorParallelParams::step),
           {"mode"})
    ->Axis("ranks", &TensorParallelParams::ranks, kRankCounts)
    ->Axis("data", &TensorParallelParams::data, kRankCounts)
    ->Smoke("model=tiny precision=fp32 batch=1 seq=32 ranks=1,2 data=1")
    ->SmokeOnGpu("model=small precision=fp32 batch=4 seq=32 ranks=1,2 data=1")
    ->Quick("model=tiny precision=fp32 batch=4 seq=128 ranks=1,2 data=1")
    ->QuickOnGpu("model=small precision=fp32 batch=4 seq=128 ranks=1,2 data=1")
    // xl has 25 heads: five ranks can share them, two cannot.
    ->Paper(
        "model=tiny,small precision=fp32,bf16_autocast batch=4 seq=128 "
        "ranks=1,2,4 data=1",
        "model=tiny,small precision=fp32 batch=4 seq=128 ranks=4 data=2",
        "model=xl precision=fp32 batch=4 seq=128 ranks=1,2,5 data=1")
    ->Expect("a rank sends what the formula says",
             Counter("sent_bytes").Per("predicted_sent_bytes"), About(1, 0))
    ->Expect("the peak is predicted within 2 %",
             Counter("peak_bytes").Per("predicted_peak_bytes"), About(1, 0.02))
    ->Expect("two ranks need about half of the memory each, or less",
             Counter("peak_bytes").Of("ranks=2 data=1").Versus("ranks=1"),
             AtMost(0.55))
    ->ExpectOnGpu("two GPUs are faster than one",
                  Time().Of("ranks=2 data=1").Versus("ranks=1"), AtMost(1))
    ->ExpectOnCpu("two ranks on one CPU send for at most half of the step",
                  Counter("communication_share").Of("ranks=2 data=1"),
                  AtMost(0.5));

}  // namespace
}  // namespace trainbench
