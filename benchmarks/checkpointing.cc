// SPDX-License-Identifier: MIT
// Question: At which price in time does a train step fit a larger batch or a
//   longer context, if the backward pass computes again what it did not keep:
//   all of each block, segments of blocks, or attention alone?
// Expect: To run each block twice adds the forward pass of the blocks to a step
//   that has three of the whole model: 31 % of small's FLOPs, 18 % of tiny's at
//   512 tokens, where the head has many. How many blocks a segment has does not
//   matter. So MFU falls, by nearly the same. HFU stays or rises a little,
//   since the update, which multiplies nothing, is a smaller share of the step.
//   Kept is the input of each segment instead of all that the backward pass of
//   a block needs. What then is alive at once are the tensors of one segment,
//   or those of the loss: in fp32 at 1 x 512 the peak of tiny falls to 0.62,
//   that of medium under bf16 autocast at 4 x 512 to 0.58. Short segments are
//   best where a block has much more than its input, as with the scores of
//   naive attention. These scores are most of it: to recompute attention alone
//   saves half of that for 6 % of tiny's FLOPs, though for more of its time,
//   because softmax has none.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"

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

  static std::vector<Expectation> Expectations(const Device& device) {
    const auto versus_none = [](const std::string& counter,
                                const RowSelection& rows) {
      return Quantity{
          .counter = counter, .rows = rows, .versus = {{"checkpoint", "none"}}};
    };
    const RowSelection attention = {{"checkpoint", "attention"}};
    const RowSelection blocks = {{"checkpoint", "every_1"}};
    const bool on_gpu = device.kind == DeviceKind::kCuda;
    const RowSelection quick = {
        {"checkpoint", "every_1"},
        {"model", on_gpu ? "medium" : "tiny"},
        {"precision", on_gpu ? "bf16_autocast" : "fp32"},
        {"batch", on_gpu ? "4" : "1"},
        {"seq", "512"}};
    return {
        {"to run each block twice takes a third more time, or less",
         versus_none("p50_us", blocks), AtMost(1.4)},
        {on_gpu ? "the peak of medium falls to 0.58"
                : "the peak of tiny falls to 0.62",
         versus_none("peak_bytes", quick), About(on_gpu ? 0.58 : 0.62, 0.03)},
        {"attention alone takes a quarter more time, or less",
         versus_none("p50_us", attention), AtMost(1.25)},
        {"a dry run is within 2 % of the measured peak",
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
    const std::string some = "checkpoint=none,attention,every_1 ";
    const std::string tiny =
        "model=tiny precision=fp32 mode=train_step batch=1 seq=512";
    return {
        .axes = axes,
        .grids = {.smoke = {"checkpoint=none,attention,every_1,every_sqrt "
                            "model=tiny precision=fp32 mode=train_step "
                            "batch=2 seq=32"},
                  .quick = {some + tiny},
                  .quick_gpu = {some + "model=medium precision=bf16_autocast "
                                       "mode=train_step batch=4 seq=512"},
                  .full = {some + tiny, "checkpoint=every_2,every_4 " + tiny},
                  .paper = {absl::StrCat(
                      "checkpoint=none,attention,every_1,every_2,every_4,"
                      "every_sqrt precision=fp32,bf16_autocast mode=train_step "
                      "batch:seq=4:512,8:512,4:1024 model=",
                      kPublishedModels)}},
        // A segment has all blocks at most: one name for the same work.
        .complete = [](Params& p, const RunOptions&, const Device&) {
          Checkpointing& how = p.model.checkpointing;
          if (how.every > 0) how.every = how.SegmentOf(p.model.layers);
          return true;
        }};
  }

  Checkpointed(const Params& p, const Device& device)
      : ModelStep(p, device), device_(device) {}

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    auto extra = ModelStep::MeasureExtra(sampling);
    if (!extra.ok()) return extra;
    // Alone with the tensors of the step: the same for every choice.
    const auto number = [](int64_t count) {
      return static_cast<double>(count);
    };
    extra->counters["largest_batch"] =
        number(LargestBatch(step(), device_, device_.memory_bytes));
    extra->counters["largest_seq"] =
        number(LargestSeq(step(), device_, device_.memory_bytes));
    return extra;
  }

 private:
  static std::vector<std::string> AllowedCheckpoints(const RunOptions&) {
    return {CheckpointingNames()};
  }
  static bool SetCheckpoint(absl::string_view name, const RunOptions&,
                            Params& p) {
    const auto checkpointing = ParseCheckpointing(name);
    if (checkpointing.ok()) p.model.checkpointing = *checkpointing;
    return checkpointing.ok();
  }

  Device device_;
};

const bool kCheckpointedRegistered = Register<Checkpointed>();

}  // namespace
}  // namespace trainbench
