// SPDX-License-Identifier: MIT
// Question: What does it cost, in time and in memory, that n ranks share each
//   matrix of a model?
// Expect: A rank has 1/n of the matrices and of what they make, the heads, the
//   hidden layer and the logits; the residual stream and the norms' results
//   stay whole. With two ranks it needs half of the memory, and less where the
//   loss is much of it: theirs overwrites the logits, the textbook's copies
//   them. A step has an all-reduce of B T d values for the embedding, two for
//   each of its 2 L sublayers and one for the head, so a rank sends 2 (n-1)/n
//   of (4 L + 2) B T d values, and a few numbers for each token's loss. It
//   computes 6 B T (4 d^2 + 3 d d_ff) / n for a layer's matrices. For tiny with
//   4 x 128 tokens that is 4.7 MB in 20 calls beside 3.8 GFLOPs: at 1 GB/s and
//   50 GFLOP/s a rank on one core sends for 5 ms and computes for 76 ms. None
//   of it can hide, because the next product needs the sum. Ranks of one CPU
//   share the cores that one process has for itself. Data-parallel ranks send
//   the gradients, whatever the batch; these send activations, in proportion to
//   it. Recomputed blocks sum again: 6 L + 2 instead of 4 L + 2.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "fixtures/steps/data_parallel_step.h"
#include "fixtures/steps/parallel/tensor_parallel_step.h"

namespace trainbench {
namespace {

class TensorParallel final : public TensorParallelStep {
 public:
  using Params = TensorParallelParams;
  using TensorParallelStep::TensorParallelStep;

  // ranks:4/data:2 are two replicas, each shared by two ranks.
  static CaseName NameOf(const Params& p) {
    return CaseName("tensor_parallel")
        .Word("model", p.step.model.name)
        .Word("precision", PrecisionName(p.step.precision))
        .Value("ranks", p.ranks)
        .Value("data", p.data)
        .Value("batch", p.step.batch)
        .Value("seq", p.step.seq);
  }

  static std::vector<Expectation> Expectations(const Device& device) {
    const auto versus_one = [](const std::string& counter,
                               const std::string& ranks) {
      return Quantity{.counter = counter,
                      .rows = {{"ranks", ranks}, {"data", "1"}},
                      .versus = {{"ranks", "1"}}};
    };
    std::vector<Expectation> expected = {
        {"a rank sends what the formula says",
         {.counter = "sent_bytes", .per = "predicted_sent_bytes"},
         About(1, 0)},
        {"the peak is predicted within 2 %",
         {.counter = "peak_bytes", .per = "predicted_peak_bytes"},
         About(1, 0.02)},
        {"two ranks need about half of the memory each, or less",
         versus_one("peak_bytes", "2"), AtMost(0.55)}};
    if (device.is_cuda()) {
      expected.push_back({"two GPUs are faster than one",
                          versus_one("p50_us", "2"), AtMost(1)});
    } else {
      expected.push_back(
          {"two ranks on one CPU send for at most a third of "
           "the step",
           {.counter = "communication_share",
            .rows = {{"ranks", "2"}, {"data", "1"}}},
           AtMost(0.33)});
    }
    return expected;
  }

  static SweepPlan<Params> Sweep() {
    std::vector<Axis<Params>> axes = StepAxes<Params>(&Params::step, {"mode"});
    axes.emplace_back("ranks", &Params::ranks, WholeNumbers{1, kMostRanks});
    axes.emplace_back("data", &Params::data, WholeNumbers{1, kMostRanks});
    return {
        .axes = std::move(axes),
        .grids =
            {.smoke = {"model=tiny precision=fp32 batch=1 seq=32 ranks=1,2 "
                       "data=1"},
             .smoke_gpu = {"model=small precision=fp32 batch=4 seq=32 "
                           "ranks=1,2 data=1"},
             .quick = {"model=tiny precision=fp32 batch=4 seq=128 ranks=1,2 "
                       "data=1"},
             .quick_gpu = {"model=small precision=fp32 batch=4 seq=128 "
                           "ranks=1,2 data=1"},
             // xl has 25 heads: five ranks share them, two cannot.
             .paper = {"model=tiny,small precision=fp32,bf16_autocast batch=4 "
                       "seq=128 ranks=1,2,4 data=1",
                       "model=tiny,small precision=fp32 batch=4 seq=128 "
                       "ranks=4 data=2",
                       "model=xl precision=fp32 batch=4 seq=128 ranks=1,2,5 "
                       "data=1"}},
        .complete = [](Params& p, const RunOptions&, const Device& device) {
          p.step.mode = StepMode::kTrainStep;
          p.backend = BackendFor(device);
          return p.ranks % p.data == 0;
        }};
  }
};

const bool kTensorParallelRegistered = Register<TensorParallel>();

}  // namespace
}  // namespace trainbench
