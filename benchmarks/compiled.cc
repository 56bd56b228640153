// SPDX-License-Identifier: MIT
// Question: How much time does a compiler save over separate operators, in
//   attention and in a step (forward and backward pass) compiled ahead of time
//   by AOTInductor and called from C++? How much do hand-written kernels or a
//   CUDA graph save?
// Expect: In fp32 at 512 tokens tiny takes 0.7 of the eager time; two thirds of
//   it are matrix products. small spends four fifths in them and gains a
//   fifth at most; attention gains a quarter, half of its passes over the
//   scores. The compiler leaves products to the same library and fuses what
//   lies between them into loops, each one pass over its tensors. Naive softmax
//   alone is 5 passes that read and write; norm, rotation and SwiGLU are as
//   many. Hand-written kernels also merge products, so they take no more time;
//   a graph saves only launches. Fused loops keep fewer tensors: a lower peak.
//   Sums in another order change only the last bits: textbook_error is near
//   1e-7 in fp32.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/runtime_step.h"

namespace trainbench {
namespace {

using enum Precision;
using Attention = RuntimeAttention::Params;
using Step = RuntimeStep::Params;

// Only GPUs have graphs.
bool IsHere(Runtime runtime, const Device& device) {
  return runtime != Runtime::kGraph || device.is_cuda();
}

TRAINBENCH_DEFINE_F(RuntimeStep, Compiled)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(RuntimeStep, Compiled,
                      "compiled/runtime/model/precision/mode/batch/seq")
    ->Axis("runtime", &Step::runtime, RuntimeName)
    ->Axes(StepAxes<Step>(&Step::step))
    ->Baseline("runtime", "eager")
    ->Smoke(
        "runtime=eager,fused,graph model=tiny precision=fp32 "
        "mode=forward_backward batch=2 seq=32")
    ->Quick(
        "runtime=eager,aoti,fused model=tiny precision=fp32 "
        "mode=forward_backward batch=4 seq=128")
    ->QuickOnGpu(
        "model=small precision=bf16_autocast mode=forward_backward "
        "batch=4 seq=128")
    ->Full(
        "model=tiny precision=fp32 mode=inference,forward_backward batch=4 "
        "seq=128",
        "model=small precision=fp32 mode=forward_backward batch=4 seq=128",
        "model=tiny,small precision=bf16_autocast mode=inference batch=4 "
        "seq=128")
    ->Paper(absl::StrCat("precision=fp32,bf16_autocast "
                         "mode=inference,forward_backward,train_step batch=4 "
                         "seq=128,512 model=",
                         kPublishedModels))
    ->Where([](const Step& p, const RunOptions&, const Device& device) {
      return IsHere(p.runtime, device) && p.step.mode != StepMode::kForward &&
             (p.step.precision == kFp32 || p.step.precision == kBf16Autocast);
    })
    ->Complete([](Step& p, const RunOptions& options) {
      p.packages = options.aoti;
    })
    ->ExpectOnCpu("the compiler takes at most 0.8 of tiny's time in fp32",
                  Time()
                      .Of("runtime=aoti model=tiny precision=fp32")
                      .Versus("runtime=eager"),
                  AtMost(0.8))
    ->Expect("the compiler makes nothing slower by more than 2 %",
             Time().Of("runtime=aoti").Versus("runtime=eager"), AtMost(1.02))
    ->Expect("fused loops of a forward pass keep fewer tensors",
             Counter("peak_bytes")
                 .Of("runtime=aoti mode=inference")
                 .Versus("runtime=eager"),
             AtMost(1))
    ->Expect("only the last bits of what the compiler computes in fp32 differ",
             Counter("textbook_error").Of("runtime=aoti precision=fp32"),
             AtMost(1e-5));

TRAINBENCH_DEFINE_F(RuntimeAttention, Compiled)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(
    RuntimeAttention, Compiled,
    "compiled/runtime/work=attention/precision/phase/batch/seq/d_head")
    ->Axis("runtime", &Attention::runtime, RuntimeName)
    ->Axes(AttentionAxes<Attention>("batch", &Attention::attention),
           {"variant"})
    ->Baseline("runtime", "eager")
    ->Smoke(
        "runtime=eager,fused,graph precision=fp32 "
        "phase=forward,forward_backward batch=2 seq=32 d_head=16")
    ->Quick(
        "runtime=eager,aoti,fused precision=fp32 phase=forward_backward "
        "batch=8 seq=256 d_head=64")
    ->QuickOnGpu(
        "precision=bf16 phase=forward_backward batch=8 seq=1024 "
        "d_head=64")
    ->Full(
        "precision=fp32 phase=forward,forward_backward batch=8 seq=256 "
        "d_head=64",
        "precision=fp32 phase=forward_backward batch=8 seq=1024 d_head=64")
    ->Paper(
        "precision=fp32,bf16 phase=forward,forward_backward batch=8 "
        "seq=256,1024,4096,8192,16384 d_head=16,32,64,128")
    ->Where([](const Attention& p, const RunOptions&, const Device& device) {
      return IsHere(p.runtime, device) && p.attention.phase != Phase::kBackward;
    })
    ->Complete([](Attention& p, const RunOptions& options) {
      p.packages = options.aoti;
      p.attention.variant = AttentionKind::kNaive;
      // A forward pass alone is inference.
      p.attention.inference = p.attention.phase == Phase::kForward;
    })
    ->Expect("the compiler saves a quarter of attention's time in fp32",
             Time()
                 .Of("runtime=aoti work=attention precision=fp32")
                 .Versus("runtime=eager"),
             AtMost(0.75));

}  // namespace
}  // namespace trainbench
