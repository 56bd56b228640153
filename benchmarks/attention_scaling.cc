// SPDX-License-Identifier: MIT
// Question: How do the time and memory of attention grow with the sequence
//   length, in separate operations and in fused kernels?
// Expect: Time tends to T^2: separate products have 4 B T^2 d FLOP forward and
//   twice that backward. In fused kernels it grows more slowly at first: short
//   sequences have few tiles for many cores. Saved memory grows as T^2, but in
//   fused kernels as T. In fp32 naive saves exp(scores) and the weights, 8 B
//   T^2 bytes, and peaks at 24 B T^2 in the softmax's backward pass; math saves
//   4 B T^2 and peaks at 12 B T^2. Fused kernels save the output and
//   log-sum-exp, 4 B T (d + 1) bytes. With B 8 and d 64, naive saves 64 MiB at
//   T 1024 and fused 2 MiB. At T 16384 naive peaks at 48 GiB, or is skipped if
//   that does not fit, and fused at 0.25 GiB. Naive is memory-bound: 14 passes
//   over the scores forward move 56 bytes for 4 d = 256 FLOP, 4.6 FLOP per
//   byte, and an H100 balances at 67 / 3.35 = 20 in fp32. 2^31 scores (T 16384)
//   take 36 ms. Flash is compute-bound: it moves 16 B T d bytes, T / 4 FLOP per
//   byte, and skips the masked half. Backward / forward is 32 / 14 passes = 2.3
//   for naive and 5 / 2 products = 2.5 for flash, which recomputes Q K^T. In
//   the caches of a CPU naive has 4 / 2 products, and exponentials only
//   forward: less than 2.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/attention_step.h"

namespace trainbench {
namespace {

constexpr char kTwoVariants[] =
    " variant=naive,sdpa_flash precision=fp32 batch=8 d_head=64";

TRAINBENCH_DEFINE_F(AttentionStep, Scaling)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(
    AttentionStep, Scaling,
    "attention_scaling/variant/precision/phase/batch/seq/d_head")
    ->Axes(AttentionAxes("batch"))
    ->Smoke(
        "phase=forward,backward batch=8 variant=naive,tiled,sdpa_flash,own "
        "precision=fp32 seq=128 d_head=32")
    // On a GPU flash attention supports only 16-bit types.
    ->SmokeOnGpu(
        "phase=forward,backward batch=8 variant=naive,sdpa_efficient "
        "precision=fp32 seq=128 d_head=32")
    ->Quick(absl::StrCat("phase=forward seq=256,1024", kTwoVariants),
            absl::StrCat("phase=backward seq=1024", kTwoVariants))
    ->QuickOnGpu(
        "phase=forward,backward batch=8 variant=naive,sdpa_flash,own "
        "precision=bf16 seq=1024,4096,16384 d_head=64")
    ->Full(
        "phase=forward,backward batch=8 "
        "variant=naive,tiled,sdpa_math,sdpa_flash,own precision=fp32 "
        "seq=256,512,1024 d_head=64")
    ->Paper(
        "phase=forward,backward batch=8 variant=naive,tiled,sdpa_math,"
        "sdpa_flash,sdpa_efficient,sdpa_cudnn,own precision=fp32,bf16 "
        "seq=256,1024,4096,8192,16384 d_head=16,32,64,128")
    ->Expect(
        "the bytes that naive attention saves grow as T^2",
        Counter("saved_bytes").Of("variant=naive phase=forward").Along("seq"),
        About(2, 0.05))
    ->Expect("the bytes that fused attention saves grow as T",
             Counter("saved_bytes")
                 .Of("variant=sdpa_flash phase=forward")
                 .Along("seq"),
             About(1, 0.02))
    ->Expect("naive attention's time grows as T^2",
             Time().Of("variant=naive phase=forward").Along("seq"),
             About(2, 0.1))
    ->Expect("fused attention's time grows as T^2 or less",
             Time().Of("variant=sdpa_flash phase=forward").Along("seq"),
             AtMost(2.2))
    ->ExpectOnGpu(
        "naive takes 2.3 times as long backward, as its passes over scores",
        Counter("backward_us")
            .Per("forward_us")
            .Of("variant=naive phase=backward"),
        About(2.3, 0.25))
    ->ExpectOnCpu("naive takes less than twice as long backward",
                  Counter("backward_us")
                      .Per("forward_us")
                      .Of("variant=naive phase=backward"),
                  AtMost(2))
    ->Expect("flash takes 2.5 times as long backward, as its products",
             Counter("backward_us")
                 .Per("forward_us")
                 .Of("variant=sdpa_flash phase=backward"),
             About(2.5, 0.25));

}  // namespace
}  // namespace trainbench
