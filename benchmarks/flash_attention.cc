// SPDX-License-Identifier: MIT
// Question: How near do attention kernels come to the device's arithmetic, from
//   128 to 65,536 tokens: ours beside the library's?
// Expect: Causal, without heads, batch 1. Naive attention keeps 24 T^2 bytes:
//   96 GiB at T 65536, so it is skipped from there on, or sooner. The kernels
//   keep 2 T (d + 2) bytes in bf16 and run. Forward they multiply 2 T^2 d FLOP,
//   backward 5 T^2 d, once more the scores, so backward / forward is 2.5 where
//   both have the same rate; kernel_flops_per_second counts these.
//   On an H100, bf16, with 16 heads of d 128 and T 16384, FlashAttention-2
//   reaches 335 TFLOP/s (Shah et al. 2024): 3.3 ms forward. One head is 128
//   blocks of queries, all at work at once, and the last has twice the mean of
//   the work: it stays below half of that. 16 heads of d 64, forward and
//   backward, are 7 * 16 T^2 d = 1.92 TFLOP: 6 ms at 320 TFLOP/s. fp32 has no
//   tensor cores, and 67 TFLOP/s at the most.
//   On a CPU ours works on tiles of the keys side by side, LibTorch's backward
//   pass on whole sequences: with batch 1 it leaves all cores but one idle, so
//   ours takes at most as long forward, and less than half as long backward on
//   two cores.

#include <optional>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/attention_step.h"

namespace trainbench {
namespace {

class FlashAttention final : public AttentionStep {
 public:
  using AttentionStep::AttentionStep;

  static SweepPlan<Params> Sweep() {
    const std::string each = "phase=forward,backward,forward_backward heads=1 ";
    const std::string both = "variant=sdpa_flash,own precision=fp32,bf16 ";
    const std::string long_fp32 = "precision=fp32 heads=1 seq=4096 d_head=64";
    // What papers on such kernels measure.
    const std::string many_heads =
        "phase=forward,backward,forward_backward heads=16 "
        "variant=sdpa_flash,sdpa_cudnn,own precision=bf16 seq=16384 d_head=128";
    // The leaderboard of the CS336 course (2025).
    const std::string leaderboard =
        "variant=sdpa_flash,sdpa_cudnn,own precision=bf16 "
        "phase=forward_backward heads=16 seq=16384 d_head=64";
    return {
        .axes = AttentionAxes("heads"),
        .grids = {
            .smoke = {each + both + "seq=300 d_head=32"},
            .quick = {"phase=forward,backward variant=sdpa_flash,own " +
                          long_fp32,
                      "phase=forward_backward variant=own " + long_fp32},
            .quick_gpu = {many_heads, leaderboard,
                          "phase=forward_backward heads=1 "
                          "variant=sdpa_efficient,own precision=fp32 "
                          "seq=4096 d_head=64"},
            .full = {each + both + "seq=1024,4096 d_head=64"},
            .paper = {each + "variant=naive,sdpa_flash,sdpa_efficient,"
                             "sdpa_cudnn,tiled,own precision=bf16,fp32 "
                             "seq=128,256,512,1024,2048,4096,8192,16384,32768,"
                             "65536 d_head=16,32,64,128",
                      many_heads, leaderboard}}};
  }

  static CaseName NameOf(const Params& p) {
    return CaseName("flash_attention")
        .Word("variant", AttentionName(p.variant))
        .Word("precision", PrecisionName(p.precision))
        .Word("phase", TimedPhaseName(p.phase))
        .Value("heads", p.sequences)
        .Value("seq", p.seq)
        .Value("d_head", p.d_head);
  }

  // Ours beside the library's flash attention.
  static std::optional<Params> BaselineOf(const Params& p) {
    if (p.variant != AttentionKind::kOwn) return std::nullopt;
    Params library = p;
    library.variant = AttentionKind::kSdpaFlash;
    return library;
  }

  static std::vector<Expectation> Expectations(const Device& device) {
    const auto own = [](const std::string& phase, const std::string& seq) {
      return Quantity{
          .counter = "p50_us",
          .rows = {{"variant", "own"}, {"phase", phase}, {"seq", seq}},
          .versus = {{"variant", "sdpa_flash"}}};
    };
    const Quantity backward = {
        .counter = "backward_us",
        .per = "forward_us",
        .rows = {{"variant", "own"}, {"phase", "forward_backward"}}};
    std::vector<Expectation> expected = {
        {"our backward pass takes 2.5 times as long as our forward pass",
         backward, About(2.5, 0.3)}};
    if (device.is_cuda()) {
      expected.push_back({"our kernels reach 335 TFLOP/s forward",
                          {.counter = "kernel_flops_per_second",
                           .rows = {{"variant", "own"},
                                    {"precision", "bf16"},
                                    {"phase", "forward"},
                                    {"heads", "16"},
                                    {"d_head", "128"}}},
                          AtLeast(335e12)});
      expected.push_back({"16 heads of 16,384 tokens take 6 ms in both passes",
                          {.counter = "p50_us",
                           .rows = {{"variant", "own"},
                                    {"phase", "forward_backward"},
                                    {"heads", "16"},
                                    {"d_head", "64"}}},
                          AtMost(6000)});
    } else {
      expected.push_back({"ours takes at most as long forward as the library's",
                          own("forward", "4096"), AtMost(1)});
      expected.push_back({"ours takes less than half as long backward",
                          own("backward", "4096"), AtMost(0.5)});
    }
    return expected;
  }
};

const bool kFlashAttentionRegistered = Register<FlashAttention>();

}  // namespace
}  // namespace trainbench
