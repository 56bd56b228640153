// SPDX-License-Identifier: MIT
// Question: How long do the forward pass, the backward pass and the optimizer
//   of a Transformer language model take as the model grows, and how close to
//   its peak does the device run?
// Expect: Time follows the FLOPs, 2 per token and matrix element in the forward
//   pass. small has 120.9 M elements (12 blocks of 9.44 M and a head of 7.68
//   M), tiny 2.33 M, so small takes 52 times as long where both keep the device
//   busy, and less where tiny does not. The backward pass has twice the FLOPs
//   of the forward pass, so backward_us / forward_us is near 2. The optimizer
//   multiplies no matrices and moves 28 bytes per parameter whatever the batch,
//   so its share of the step falls as the step has more tokens.

#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"

namespace trainbench {
namespace {

using enum Precision;
using enum StepMode;

class ModelSize final : public ModelStep {
 public:
  using Params = StepParams;
  using ModelStep::ModelStep;

  static CaseName NameOf(const Params& p) { return StepName("model_size", p); }

  static std::vector<Expectation> Expectations(const Device&) {
    return {{"the backward pass takes twice the forward pass",
             {.counter = "backward_us", .per = "forward_us"},
             About(2, 0.15)},
            {"small takes 52 times as long as tiny, or less",
             {.counter = "p50_us",
              .rows = {{"model", "small"}},
              .versus = {{"model", "tiny"}}},
             AtMost(52)},
            {"the optimizer's share falls as the step has more tokens",
             {.counter = "optimizer_us", .per = "p50_us", .along = "seq"},
             AtMost(0)}};
  }

  static SweepPlan<Params> Sweep() {
    const std::string modes = "mode=forward,forward_backward,train_step ";
    return {
        .axes = StepAxes<Params>(),
        .grids = {.smoke = {modes + "model=tiny precision=fp32,bf16_autocast "
                                    "batch=2 seq=32"},
                  .quick = {"mode=forward model=tiny,small precision=fp32 "
                            "batch=1 seq=128",
                            "mode=train_step model=tiny precision=fp32 batch=1 "
                            "seq=128"},
                  // breakdown times xl
                  .quick_gpu = {"model=small,large,2.7B "
                                "precision=fp32,bf16_autocast "
                                "mode=forward,train_step batch=4 seq=512",
                                "model=tiny precision=fp32,bf16_autocast "
                                "mode=train_step batch=4 seq=512"},
                  .full = {modes +
                           "model=tiny,small precision=fp32,bf16_autocast "
                           "batch=1 seq=128"},
                  .paper = {modes +
                            "precision=fp32,tf32,bf16_autocast batch=4 "
                            "seq=128,256,512,1024 model=" +
                            kPublishedModels}},
        // Emulated bf16 is slower than fp32 and would only add minutes.
        .complete = [](Params& p, const RunOptions& options,
                       const Device& device) {
          return options.suite != Suite::kFull || device.is_cuda() ||
                 device.native_bf16 || p.precision == kFp32 ||
                 options.axes.contains("precision");
        }};
  }
};

const bool kModelSizeRegistered = Register<ModelSize>();

}  // namespace
}  // namespace trainbench
