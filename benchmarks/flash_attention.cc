// SPDX-License-Identifier: MIT
// Question: How close do attention kernels, ours and the library's, come to the
//   peak FLOP/s of the device, from 128 to 65,536 tokens?
// Expect: With a causal mask the kernels multiply 2 T^2 d FLOP forward and
//   5 T^2 d backward, where they recompute the scores, so backward / forward is
//   2.5 at equal rates; kernel_flops_per_second counts these. One head in bf16
//   keeps 2 T (d + 2) bytes, so all lengths run. Naive attention needs 24 T^2
//   bytes in fp32, 96 GiB at T 65536: too many for an H100's 80 GB. On an H100
//   in bf16, with 16 heads of d 128 and T 16384, ours reaches the
//   335 TFLOP/s of FlashAttention-2 (Shah et al. 2024): 3.3 ms forward. One
//   head stays below half of it: its 128 blocks of queries all run at once, and
//   the last has twice the mean work. 16 heads of d 64 have 7 * 16 T^2 d =
//   1.92 TFLOP in both passes: 6 ms at 320 TFLOP/s. Our fp32 kernels use no
//   tensor cores: 67 TFLOP/s at most.
//   On a CPU with batch 1, ours takes at most as long forward as LibTorch's
//   and, on two cores or more, at most 3/4 as long backward: ours computes
//   tiles of the keys in parallel, LibTorch's only whole sequences, which
//   leaves all cores but one idle. Two cores that shared nothing would halve
//   the time.

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/attention_step.h"

namespace trainbench {
namespace {

// The configuration that papers on such kernels measure.
constexpr char kManyHeads[] =
    "phase=forward,backward,forward_backward heads=16 "
    "variant=sdpa_flash,sdpa_cudnn,own precision=bf16 seq=16384 d_head=128";
// The configuration of the CS336 course's leaderboard (2025).
constexpr char kLeaderboard[] =
    "phase=forward_backward heads=16 variant=sdpa_flash,sdpa_cudnn,own "
    "precision=bf16 seq=16384 d_head=64";

TRAINBENCH_DEFINE_F(AttentionStep, Flash)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(
    AttentionStep, Flash,
    "flash_attention/variant/precision/phase/heads/seq/d_head")
    ->Axes(AttentionAxes("heads"))
    // Ours against the library's flash attention.
    ->Baseline("variant", "sdpa_flash", "own")
    ->Smoke(
        "phase=forward,backward,forward_backward heads=1 "
        "variant=sdpa_flash,own precision=fp32,bf16 seq=300 d_head=32")
    ->Quick(
        "phase=forward,backward heads=1 variant=sdpa_flash,own precision=fp32 "
        "seq=4096 d_head=64",
        "phase=forward_backward heads=1 variant=own precision=fp32 seq=4096 "
        "d_head=64")
    ->QuickOnGpu(kManyHeads, kLeaderboard,
                 "phase=forward_backward heads=1 variant=sdpa_efficient,own "
                 "precision=fp32 seq=4096 d_head=64")
    ->Full(
        "phase=forward,backward,forward_backward heads=1 "
        "variant=sdpa_flash,own precision=fp32,bf16 seq=1024,4096 d_head=64")
    ->Paper(
        "phase=forward,backward,forward_backward heads=1 "
        "variant=naive,sdpa_flash,sdpa_efficient,sdpa_cudnn,tiled,own "
        "precision=bf16,fp32 "
        "seq=128,256,512,1024,2048,4096,8192,16384,32768,65536 "
        "d_head=16,32,64,128",
        kManyHeads, kLeaderboard)
    ->Expect("our backward pass takes 2.5 times as long as our forward pass",
             Counter("backward_us")
                 .Per("forward_us")
                 .Of("variant=own phase=forward_backward"),
             About(2.5, 0.3))
    ->ExpectOnH100(
        "our kernels reach 335 TFLOP/s forward",
        Counter("kernel_flops_per_second")
            .Of("variant=own precision=bf16 phase=forward heads=16 d_head=128"),
        AtLeast(335e12))
    ->ExpectOnH100(
        "16 heads of 16,384 tokens take 6 ms in both passes",
        Time().Of("variant=own phase=forward_backward heads=16 d_head=64"),
        AtMost(6000))
    ->ExpectOnCpu("ours takes at most as long forward as the library's",
                  Time()
                      .Of("variant=own phase=forward seq=4096")
                      .Versus("variant=sdpa_flash"),
                  AtMost(1))
    ->ExpectOnCpu("ours takes at most 3/4 as long backward",
                  Time()
                      .Of("variant=own phase=backward seq=4096")
                      .Versus("variant=sdpa_flash"),
                  AtMost(0.75));

}  // namespace
}  // namespace trainbench
