// SPDX-License-Identifier: MIT
// Question: How long do the forward pass, the backward pass and the optimizer
//   of a Transformer language model take as the model grows, and how close to
//   its peak does the device run?
// Expect: Time follows the FLOPs: 2 per token and matrix element in the forward
//   pass. small has 120.9 M elements (12 blocks of 9.44 M and a head of 7.68 M)
//   and tiny 2.33 M. So small takes 52 times as long where both keep the device
//   busy, and less where tiny does not. The backward pass has twice the FLOPs
//   of the forward pass, so backward_us / forward_us is near 2. The optimizer
//   multiplies no matrices and moves 28 bytes per parameter for any batch, so
//   its share of the step falls as the step has more tokens.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"

namespace trainbench {
namespace {

TRAINBENCH_DEFINE_F(ModelStep, ModelSize)(State& state) {
  for (auto _ : state) Step(state.phases());
}

TRAINBENCH_REGISTER_F(ModelStep, ModelSize,
                      "model_size/model/precision/mode/batch/seq")
    ->Axes(StepAxes<StepParams>())
    ->Smoke(
        "model=tiny precision=fp32,bf16_autocast "
        "mode=forward,forward_backward,train_step batch=2 seq=32")
    ->Quick("model=tiny,small precision=fp32 mode=forward batch=1 seq=128",
            "model=tiny precision=fp32 mode=train_step batch=1 seq=128")
    ->QuickOnGpu(  // breakdown times xl
        "model=small,large,2.7B precision=fp32,bf16_autocast "
        "mode=forward,train_step batch=4 seq=512",
        "model=tiny precision=fp32,bf16_autocast mode=train_step batch=4 "
        "seq=512")
    ->Full(
        "model=tiny,small precision=fp32,bf16_autocast "
        "mode=forward,forward_backward,train_step batch=1 seq=128")
    ->Paper(absl::StrCat("precision=fp32,tf32,bf16_autocast "
                         "mode=forward,forward_backward,train_step batch=4 "
                         "seq=128,256,512,1024 model=",
                         kPublishedModels))
    // Emulated bf16 is slower than fp32 and would only add minutes.
    ->Where([](const StepParams& p, const RunOptions& options,
               const Device& device) {
      return options.suite != Suite::kFull || device.is_cuda() ||
             device.native_bf16 || p.precision == Precision::kFp32 ||
             options.axes.contains("precision");
    })
    ->Expect("the backward pass takes twice the forward pass",
             Counter("backward_us").Per("forward_us"), About(2, 0.15))
    ->Expect("small takes 52 times as long as tiny, or less",
             Time().Of("model=small").Versus("model=tiny"), AtMost(52))
    ->Expect("the optimizer's share falls as the step has more tokens",
             Counter("optimizer_us").Per("p50_us").Along("seq"), AtMost(0));

}  // namespace
}  // namespace trainbench
