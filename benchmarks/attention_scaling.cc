// SPDX-License-Identifier: MIT
// Question: How do time and memory of attention grow with the sequence length,
//   for separate operations and for fused kernels?
// Expect: All variants multiply 4 B T^2 d FLOP forward and twice that backward,
//   so their times tend to T^2. Memory differs. In fp32 naive saves exp(scores)
//   and the weights, 8 B T^2 bytes, and peaks at 24 B T^2 in the backward pass
//   of the softmax; math saves 4 and peaks at 12 B T^2. The fused kernels save
//   the output and log-sum-exp, 4 B T (d + 1) bytes: exponent 1. With B 8 and d
//   64 that is 64 v 2 MiB saved at T 1024, and at T 16384 a peak of 48 GiB,
//   skipped where it does not fit, v 0.25 GiB. Naive passes over the scores 14
//   times forward, 56 bytes for 4 d = 256 FLOP. At 4.6 FLOP per byte it is
//   bound by memory (an H100 balances at 67 / 3.35 = 20 in fp32): 36 ms for the
//   2^31 scores of T 16384. Flash moves 16 B T d bytes, T / 4 FLOP per byte, so
//   it is bound by arithmetic, and it skips the masked half. Backward / forward
//   is 32 to 14 passes, 2.3, for naive, and 5 to 2 products, 2.5, for flash,
//   which computes Q K^T again.

#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/attention_step.h"

namespace trainbench {
namespace {

class AttentionScaling final : public AttentionStep {
 public:
  using AttentionStep::AttentionStep;

  static SweepPlan<Params> Sweep();

  static std::vector<Expectation> Expectations(const Device& device);

  static CaseName NameOf(const Params& p) {
    return CaseName("attention_scaling")
        .Word("variant", AttentionName(p.variant))
        .Word("precision", PrecisionName(p.precision))
        .Word("phase", TimedPhaseName(p.phase))
        .Value("batch", p.sequences)
        .Value("seq", p.seq)
        .Value("d_head", p.d_head);
  }
};

std::vector<Expectation> AttentionScaling::Expectations(const Device&) {
  const auto growth = [](const std::string& counter, const std::string& variant,
                         const std::string& phase) {
    return Quantity{.counter = counter,
                    .rows = {{"variant", variant}, {"phase", phase}},
                    .along = "seq"};
  };
  const auto backward = [](const std::string& variant) {
    return Quantity{.counter = "backward_us",
                    .per = "forward_us",
                    .rows = {{"variant", variant}, {"phase", "backward"}}};
  };
  return {{"naive attention saves T^2 bytes",
           growth("saved_bytes", "naive", "forward"), About(2, 0.05)},
          {"fused attention saves T bytes",
           growth("saved_bytes", "sdpa_flash", "forward"), About(1, 0.02)},
          {"naive attention's time grows as T^2",
           growth("p50_us", "naive", "forward"), About(2, 0.1)},
          {"fused attention's time grows as T^2",
           growth("p50_us", "sdpa_flash", "forward"), About(2, 0.1)},
          {"naive takes 2.3 times as long backward, as its passes over scores",
           backward("naive"), About(2.3, 0.25)},
          {"flash takes 2.5 times as long backward, as its products",
           backward("sdpa_flash"), About(2.5, 0.25)}};
}

SweepPlan<AttentionScaling::Params> AttentionScaling::Sweep() {
  const std::string all =
      "variant=naive,tiled,sdpa_math,sdpa_flash,sdpa_efficient,sdpa_cudnn,own "
      "phase=forward,backward batch=8 ";
  const std::string some = "phase=forward,backward batch=8 ";
  const std::string two =
      "variant=naive,sdpa_flash precision=fp32 batch=8 d_head=64";
  return {
      .axes = AttentionAxes("batch"),
      .grids = {
          .smoke = {some + "variant=naive,tiled,sdpa_flash,own precision=fp32 "
                           "seq=128 d_head=32"},
          // A GPU's flash attention is for 16-bit types.
          .smoke_gpu = {some + "variant=naive,sdpa_efficient precision=fp32 "
                               "seq=128 d_head=32"},
          .quick = {"phase=forward seq=256,1024 " + two,
                    "phase=backward seq=1024 " + two},
          .quick_gpu = {some + "variant=naive,sdpa_flash,own "
                               "precision=bf16 seq=1024,4096,16384 d_head=64"},
          .full = {some + "variant=naive,tiled,sdpa_math,sdpa_flash,own "
                          "precision=fp32 seq=256,512,1024 d_head=64"},
          .paper = {all + "precision=fp32,bf16 seq=256,1024,4096,8192,16384 "
                          "d_head=16,32,64,128"}}};
}

const bool kAttentionScalingRegistered = Register<AttentionScaling>();

}  // namespace
}  // namespace trainbench
