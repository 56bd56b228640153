// SPDX-License-Identifier: MIT
// Question: At which price in time does a train step fit a larger batch or a
//   longer context, if the backward pass computes again what it did not keep:
//   all of each block, segments of blocks, or attention alone?
// Expect: To run every block twice adds its forward pass to the three of a
//   step: small recomputes 0.94 / 3 of the FLOPs, whatever the segments are. So
//   MFU falls by a quarter and HFU stays. What is kept falls from 25 tensors
//   and more of each block to the input of each segment, and what is left are
//   the tensors of the one segment that runs again, and those of the loss: of
//   tiny at 512 tokens in fp32 the peak falls to 0.57. One block in a segment
//   is the best choice while its tensors outweigh the inputs of all others, as
//   scores of naive attention do; at more than 2 * sqrt(layers) blocks of small
//   ones longer segments pay. Attention alone has most of those bytes and a few
//   percent of the FLOPs, though not of the time: its softmax takes five
//   passes.

#include "model/spec/checkpointing.h"

#include <optional>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "model/accounting/memory.h"

namespace trainbench {
namespace {

class Checkpointed final : public ModelStep {
 public:
  using Params = StepParams;

  static CaseName NameOf(const Params& p) {
    return CaseName("checkpointing")
        .Word("checkpoint", CheckpointingName(p.model.checkpointing))
        .Word("model", p.model.name)
        .Word("precision", PrecisionName(p.precision))
        .Word("mode", StepModeName(p.mode))
        .Value("batch", p.batch)
        .Value("seq", p.seq);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto versus_none = [](const std::string& counter,
                                const RowSelection& rows) {
      return Quantity{
          .counter = counter, .rows = rows, .versus = {{"checkpoint", "none"}}};
    };
    const RowSelection attention = {{"checkpoint", "attention"}};
    const RowSelection blocks = {{"checkpoint", "every_1"}};
    const RowSelection tiny = {
        {"checkpoint", "every_1"}, {"model", "tiny"}, {"seq", "512"}};
    return {{"to compute every block twice takes a third more time, or less",
             versus_none("p50_us", blocks), AtMost(1.4)},
            {"the peak of tiny falls to 0.57 of it",
             versus_none("peak_bytes", tiny), About(0.57, 0.05)},
            {"attention alone takes a fifth more time, or less",
             versus_none("p50_us", attention), AtMost(1.2)},
            {"the closed form is within 2 % of the measured peak",
             {.counter = "peak_bytes", .per = "predicted_peak_bytes"},
             About(1, 0.02)}};
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    if (p.model.checkpointing == Checkpointing()) return std::nullopt;
    Params baseline = p;
    baseline.model.checkpointing = {};
    return baseline;
  }

  static SweepPlan<Params> Sweep() {
    std::vector<Axis<Params>> axes = StepAxes<Params>();
    // After the model, which sets it too.
    axes.emplace_back("checkpoint", AllowedCheckpoints, SetCheckpoint);
    const std::string all = "checkpoint=none,attention,every_1,every_2,every_4";
    return {.axes = axes,
            .grids = {.smoke = {"checkpoint=none,attention,every_1,every_sqrt "
                                "model=tiny precision=fp32 mode=train_step "
                                "batch=2 seq=32"},
                      .quick = {all + " model=tiny precision=fp32 "
                                      "mode=train_step batch=1 seq=512"},
                      .quick_gpu = {all + ",every_sqrt model=large "
                                          "precision=bf16_autocast "
                                          "mode=train_step batch=4 seq=512"},
                      .paper = {all +
                                ",every_sqrt precision=fp32,bf16_autocast"
                                " mode=train_step batch=4,8 "
                                "seq=512,1024 model=" +
                                kPublishedModels}}};
  }

  Checkpointed(const Params& p, const Device& device)
      : ModelStep(p, device), device_(device) {}

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    auto extra = ModelStep::MeasureExtra(sampling);
    if (!extra.ok()) return extra;
    // Alone with the tensors of the step: the same for every choice.
    const MemoryQuery query = StepMemory(step(), device_);
    const auto number = [](int64_t count) {
      return static_cast<double>(count);
    };
    extra->counters["largest_batch"] =
        number(LargestBatch(query, device_.memory_bytes));
    extra->counters["largest_seq"] =
        number(LargestSeq(query, device_.memory_bytes));
    return extra;
  }

 private:
  static std::vector<std::string> AllowedCheckpoints(const RunOptions&) {
    return {"none", "attention", "every_sqrt", "every_1 to every_1048576"};
  }
  static bool SetCheckpoint(absl::string_view name, const RunOptions&,
                            Params& p) {
    const auto checkpointing = ParseCheckpointing(name);
    if (checkpointing.ok()) p.model.checkpointing = *checkpointing;
    return checkpointing.ok();
  }

  Device device_;
};

const bool kRegistered = Register<Checkpointed>();

}  // namespace
}  // namespace trainbench
