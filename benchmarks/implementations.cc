// SPDX-License-Identifier: MIT
// Question: How much time and peak memory does each implementation of a step
//   save: the textbook's, LibTorch's fused operators, and ours?
// Expect: LibTorch's is faster than the textbook's, ours at least as fast as
//   LibTorch's. All three multiply the same matrices, so the gain is largest in
//   small models, with more elementwise work: in fp32 on a CPU at 512 tokens,
//   products are two thirds of tiny's step, and ours saves a tenth of it or
//   more; in small they are four fifths, and all else is a fifth. LibTorch
//   saves the passes of softmax and some of norm, SiLU and loss. Ours makes one
//   pass for each, merges products of one input, and under autocast adds and
//   norms in one pass, without a copy of the input per product. The peak falls
//   with the tensors kept: ours keeps 3 of 5 in the feed-forward layer, no
//   scores, and one of logits in the products' dtype instead of three in fp32.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/config.h"
#include "model/spec/implementation.h"

namespace trainbench {
namespace {

Implementation& ImplementationOf(StepParams& p) {
  return p.model.implementation;
}

TRAINBENCH_DEFINE_F(ModelStep, Implementations)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(
    ModelStep, Implementations,
    "implementations/implementation/model/precision/mode/batch/seq")
    ->Axes(StepAxes<StepParams>())
    // After the model, which also sets it.
    ->Axis("implementation", ImplementationOf, ImplementationName)
    ->Baseline("implementation", "textbook")
    ->Smoke(
        "model=tiny precision=fp32,bf16_autocast mode=forward_backward batch=2 "
        "seq=32")
    ->Quick("model=tiny precision=fp32 mode=forward_backward batch=4 seq=128")
    ->QuickOnGpu(
        "model=small precision=bf16_autocast mode=forward_backward batch=4 "
        "seq=512",
        "implementation=library,fused model=2.7B precision=bf16_autocast,bf16 "
        "mode=forward_backward batch=4 seq=512")
    ->Full(
        "model=tiny,small precision=fp32 mode=forward_backward batch=4 "
        "seq=128")
    ->Paper(absl::StrCat(
        "precision=fp32,bf16_autocast,bf16 "
        "mode=forward,forward_backward,train_step batch=4 seq=128,512,1024 "
        "model=",
        kPublishedModels))
    ->Complete([](StepParams& p) {
      p.model.attention = AttentionOf(p.model.implementation);
    })
    ->Expect("LibTorch's operators are faster than the textbook's",
             Time()
                 .Of("implementation=library mode=forward_backward")
                 .Versus("implementation=textbook"),
             AtMost(1))
    ->ExpectOnCpu("ours take at most 0.9 of the textbook's time in tiny",
                  Time()
                      .Of("implementation=fused mode=forward_backward "
                          "model=tiny")
                      .Versus("implementation=textbook"),
                  AtMost(0.9))
    ->ExpectOnGpu("ours take at most 0.9 of the textbook's time",
                  Time()
                      .Of("implementation=fused mode=forward_backward")
                      .Versus("implementation=textbook"),
                  AtMost(0.9))
    ->Expect("ours take at most 0.95 of the textbook's memory",
             Counter("peak_bytes")
                 .Of("implementation=fused mode=forward_backward")
                 .Versus("implementation=textbook"),
             AtMost(0.95))
    ->Expect("ours take no more time than LibTorch's",
             Time()
                 .Of("implementation=fused mode=forward_backward")
                 .Versus("implementation=library"),
             AtMost(1));

}  // namespace
}  // namespace trainbench
