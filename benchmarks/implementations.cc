// SPDX-License-Identifier: MIT
// Question: What do a step's implementations save in time and in peak memory:
//   the textbook, LibTorch's fused operators, and ours?
// Expect: All three multiply the same matrices, which is most of a large step,
//   so the gain is largest where elementwise work is: in small models. Of tiny
//   at 512 tokens in fp32 on a CPU a third of the step is matrix products, of
//   small two thirds. The library saves the passes of softmax, and parts of
//   norm, SiLU and loss; ours leaves one pass to each, multiplies what shares
//   an input at once, and under autocast norms and adds in one pass without a
//   copy of the input for each product. The peak falls with what is not saved:
//   of 5 tensors of the feed-forward layer 3, of scores none, of three fp32
//   tensors of the logits one in the products' width.

#include <optional>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/config.h"
#include "model/spec/implementation.h"

namespace trainbench {
namespace {

class Implementations final : public ModelStep {
 public:
  using Params = StepParams;
  using ModelStep::ModelStep;

  static CaseName NameOf(const Params& p) {
    return StepName(
        CaseName("implementations")
            .Word("implementation", ImplementationName(p.model.implementation)),
        p);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto versus_textbook = [](const std::string& counter,
                                    const std::string& implementation) {
      return Quantity{.counter = counter,
                      .rows = {{"implementation", implementation},
                               {"mode", "forward_backward"}},
                      .versus = {{"implementation", "textbook"}}};
    };
    return {
        {"LibTorch's operators are faster than the textbook's",
         versus_textbook("p50_us", "library"), AtMost(1)},
        {"ours are faster than the textbook's",
         versus_textbook("p50_us", "fused"), AtMost(0.9)},
        {"ours take less memory than the textbook's",
         versus_textbook("peak_bytes", "fused"), AtMost(0.95)},
        {"ours take no more time than LibTorch's",
         {.counter = "p50_us",
          .rows = {{"implementation", "fused"}, {"mode", "forward_backward"}},
          .versus = {{"implementation", "library"}}},
         AtMost(1)}};
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, ImplementationOf, Implementation::kTextbook);
  }

  static SweepPlan<Params> Sweep() {
    std::vector<Axis<Params>> axes = StepAxes<Params>();
    // After the model, which sets it too.
    axes.emplace_back("implementation", ImplementationOf, kImplementations,
                      ImplementationName);
    const std::string all = "implementation=textbook,library,fused ";
    const std::string fp32 =
        " precision=fp32 mode=forward_backward batch=4 seq=128";
    return {.axes = axes,
            .grids = {.smoke = {all + "model=tiny precision=fp32,bf16_autocast "
                                      "mode=forward_backward batch=2 seq=32"},
                      .quick = {all + "model=tiny" + fp32},
                      .quick_gpu = {all + "model=small "
                                          "precision=bf16_autocast "
                                          "mode=forward_backward batch=4 "
                                          "seq=512",
                                    "implementation=library,fused model=2.7B "
                                    "precision=bf16_autocast,bf16 "
                                    "mode=forward_backward batch=4 seq=512"},
                      .full = {all + "model=tiny,small" + fp32},
                      .paper = {all +
                                "precision=fp32,bf16_autocast,bf16 "
                                "mode=forward,forward_backward,train_step "
                                "batch=4 seq=128,512,1024 model=" +
                                kPublishedModels}},
            .complete = [](Params& p, const RunOptions&, const Device&) {
              p.model.attention = AttentionOf(p.model.implementation);
              return true;
            }};
  }

 private:
  static Implementation& ImplementationOf(Params& p) {
    return p.model.implementation;
  }
};

const bool kImplementationsRegistered = Register<Implementations>();

}  // namespace
}  // namespace trainbench
