// SPDX-License-Identifier: MIT
// Question: How much time does it save to record a step, or attention alone, as
//   a CUDA graph once and replay it, instead of launching each kernel from the
//   host?
// Expect: A train step of tiny becomes at least three times as fast: it has 670
//   kernels of a few us each. large in bf16 at 2048 tokens keeps the device
//   busy and gains a few percent. Only the host's time is saved: about 5 us for
//   each kernel that the device finishes sooner. A graph runs the same kernels
//   on the same operands, so a replayed step has the same bits as an eager one,
//   replay_error 0; attention may differ where a kernel adds with atomics. The
//   graph has the tensors of an eager call, so peak_ratio is 1, but reserves
//   their memory, pool_bytes, for itself. Recording takes about as long as an
//   eager call: a few replays pay it back.

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/runtime_step.h"

namespace trainbench {
namespace {

constexpr std::array kLaunches = {Runtime::kEager, Runtime::kGraph};

// Without graphs, eager rows would have nothing to be compared with.
template <typename Base>
class Launch : public Base {
 public:
  using Base::Base;

  static std::string Unavailable(const typename Base::Params& p,
                                 const Device& device) {
    const std::string why = WhyNoGraphs(device);
    return why.empty() ? Base::Unavailable(p, device) : why;
  }

  void Run(State& state) override {
    for (auto _ : state) this->Step(state.phases());
  }
};

using AttentionLaunch = Launch<RuntimeAttention>;
using StepLaunch = Launch<RuntimeStep>;

TRAINBENCH_REGISTER(AttentionLaunch,
                    "cuda_graph/launch/work=attention/variant/precision/batch/"
                    "seq/d_head")
    ->Axis("launch", &AttentionLaunch::Params::runtime, kLaunches, RuntimeName)
    ->Axes(AttentionAxes<AttentionLaunch::Params>(
               "batch", &AttentionLaunch::Params::attention),
           {"phase"})
    ->Baseline("launch", "eager")
    ->Smoke("variant=naive precision=fp32 batch=8 seq=128 d_head=32")
    ->QuickOnGpu("variant=own precision=bf16 batch=8 seq=256 d_head=64")
    ->Paper(
        "variant=naive precision=fp32 batch=8 seq=256,1024,4096,8192,16384 "
        "d_head=16,32,64,128",
        "variant=naive,sdpa_flash,own precision=bf16 batch=8 "
        "seq=256,1024,4096,8192,16384 d_head=16,32,64,128");

TRAINBENCH_REGISTER(StepLaunch,
                    "cuda_graph/launch/model/precision/mode/batch/seq")
    ->Axis("launch", &StepLaunch::Params::runtime, kLaunches, RuntimeName)
    ->Axes(StepAxes<StepLaunch::Params>(&StepLaunch::Params::step))
    ->Baseline("launch", "eager")
    ->Smoke(
        "model=tiny precision=fp32 mode=forward,forward_backward,train_step "
        "batch=2 seq=32")
    ->Quick("model=tiny precision=fp32 mode=train_step batch=2 seq=32")
    ->QuickOnGpu("model=tiny precision=fp32 mode=train_step batch=2 seq=32",
                 "model=small precision=bf16_autocast "
                 "mode=forward,forward_backward,train_step batch=4 seq=512")
    ->Full(
        "model=tiny precision=fp32 mode=forward,forward_backward,train_step "
        "batch=2 seq=32")
    ->Paper(absl::StrCat(
        "precision=fp32,bf16_autocast "
        "mode=forward,forward_backward,train_step batch=4 seq=128,512 model=",
        kPublishedModels))
    ->Expect("replayed train steps have the bits of eager ones",
             Counter("replay_error").Of("launch=graph mode=train_step"),
             AtMost(0))
    ->Expect("a replay takes at most 2 % longer than an eager call",
             Time().Of("launch=graph").Versus("launch=eager"), AtMost(1.02))
    ->Expect("a train step of tiny takes a third of the time, or less",
             Time()
                 .Of("launch=graph model=tiny mode=train_step")
                 .Versus("launch=eager"),
             AtMost(1.0 / 3))
    ->Expect("a graph has the tensors of an eager call",
             Counter("peak_bytes").Of("launch=graph").Versus("launch=eager"),
             About(1, 0.02));

}  // namespace
}  // namespace trainbench
