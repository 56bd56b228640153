// SPDX-License-Identifier: MIT
// Question: How much time does activation checkpointing cost to fit a larger
//   batch or a longer context, if the backward pass recomputes each block,
//   segments of blocks, or attention alone?
// Expect: Recomputing each block adds a forward pass of the blocks to a step
//   that costs three of the whole model: 31 % of small's FLOPs, 18 % of tiny's
//   at 512 tokens, where the head has many. The number of blocks in a segment
//   does not matter. So MFU falls by nearly the same share. HFU stays or rises
//   a little, because the update, which multiplies nothing, is a smaller share
//   of the step. Only the input of each segment is kept; the other tensors that
//   the backward pass needs are alive for one segment at a time. These, or the
//   loss's, set the peak. It falls to 0.62 of the peak without checkpointing
//   for tiny in fp32 at 1 x 512, and to 0.58 for medium under bf16 autocast at
//   4 x 512. Short segments are best where a block keeps much more than its
//   input, mostly the scores of naive attention. So recomputing attention alone
//   saves half as much memory for 6 % of tiny's FLOPs, but for more of its
//   time, because softmax has none.

#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"
#include "model/accounting/number.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

class Checkpointed : public ModelStep {
 public:
  using ModelStep::ModelStep;

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    ASSIGN_OR_RETURN(auto extra, ModelStep::MeasureExtra(sampling));
    // Counts the step's tensors alone, so that all choices are comparable.
    const int64_t bytes = device().memory_bytes;
    extra.counters["largest_batch"] =
        Number(LargestSize(&StepParams::batch, step(), device(), bytes));
    extra.counters["largest_seq"] =
        Number(LargestSize(&StepParams::seq, step(), device(), bytes));
    return extra;
  }
};

Axis<StepParams> CheckpointAxis() {
  return {"checkpoint",
          [](const RunOptions&) { return std::vector{CheckpointingNames()}; },
          [](absl::string_view name, const RunOptions&, StepParams& p) {
            const auto checkpointing = ParseCheckpointing(name);
            if (checkpointing.ok()) p.model.checkpointing = *checkpointing;
            return checkpointing.ok();
          },
          [](const StepParams& p) {
            return CheckpointingName(p.model.checkpointing);
          }};
}

TRAINBENCH_REGISTER(Checkpointed,
                    "checkpointing/checkpoint/model/precision/mode/batch/seq")
    ->Axes(StepAxes<StepParams>())
    ->Axis(CheckpointAxis())  // after the model, which also sets it
    ->Baseline("checkpoint", "none")
    ->Smoke(
        "checkpoint=none,attention,every_1,every_sqrt model=tiny "
        "precision=fp32 mode=train_step batch=2 seq=32")
    ->Quick(
        "checkpoint=none,attention,every_1 model=tiny precision=fp32 "
        "mode=train_step batch=1 seq=512")
    ->QuickOnGpu(
        "checkpoint=none,attention,every_1 model=medium "
        "precision=bf16_autocast mode=train_step batch=4 seq=512")
    ->Full(
        "checkpoint=none,attention,every_1,every_2,every_4 model=tiny "
        "precision=fp32 mode=train_step batch=1 seq=512")
    ->Paper(absl::StrCat(
        "checkpoint=none,attention,every_1,every_2,every_4,every_sqrt "
        "precision=fp32,bf16_autocast mode=train_step "
        "batch:seq=4:512,8:512,4:1024 model=",
        kPublishedModels))
    // A segment has at most all blocks: use one name for the same work.
    ->Complete([](StepParams& p) {
      Checkpointing& how = p.model.checkpointing;
      if (how.every > 0) how.every = how.SegmentOf(p.model.layers);
    })
    ->Expect("to run each block twice takes at most 1.4 times as long",
             Time().Of("checkpoint=every_1").Versus("checkpoint=none"),
             AtMost(1.4))
    ->ExpectOnCpu(
        "the peak of tiny falls to 0.62",
        Counter("peak_bytes")
            .Of("checkpoint=every_1 model=tiny precision=fp32 batch=1 seq=512")
            .Versus("checkpoint=none"),
        About(0.62, 0.03))
    ->ExpectOnGpu("the peak of medium falls to 0.58",
                  Counter("peak_bytes")
                      .Of("checkpoint=every_1 model=medium "
                          "precision=bf16_autocast batch=4 seq=512")
                      .Versus("checkpoint=none"),
                  About(0.58, 0.03))
    ->Expect("attention alone takes a quarter more time, or less",
             Time().Of("checkpoint=attention").Versus("checkpoint=none"),
             AtMost(1.25))
    ->Expect("a dry run is within 2 % of the measured peak",
             Counter("peak_bytes").Per("predicted_peak_bytes"), About(1, 0.02));

}  // namespace
}  // namespace trainbench
