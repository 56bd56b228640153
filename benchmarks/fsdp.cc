// SPDX-License-Identifier: MIT
// Question: How much memory does a rank save if parameters and gradients are
//   sharded as well as AdamW's state, and which time does that cost?
// Expect: fp32 parameters, gradients and moments take 16 bytes per parameter;
//   on n ranks a rank keeps 16 / n of them, 8 with n = 2, where sharding the
//   state alone leaves 12. Beside them are the blocks in use: one, or with
//   prefetch two. A step gathers all parameters, and those of blocks again
//   backward if they are resharded: 3 instead of 2 (n-1)/n of the bytes that
//   blocks have. Without resharding it sends as much as the sharded optimizer,
//   in one call per block instead of one for all, and is at most 15 % slower.
//   Where communication has its own hardware, prefetch hides all but the first
//   gather and the last reduction. Ranks on one CPU send with the cores that
//   compute, so there prefetch hides little. Gathers in bf16 send half as much.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "fixtures/steps/data_parallel_step.h"
#include "fixtures/steps/parallel/fsdp_step.h"

namespace trainbench {
namespace {

// What is divided among the ranks.
struct Divided {
  absl::string_view name;
  std::optional<OptimizerSharding> replicas = {};
};
constexpr Divided kDivided[] = {{"nothing", OptimizerSharding::kReplicated},
                                {"optimizer", OptimizerSharding::kSharded},
                                {"everything"}};

absl::string_view NameOfDivided(const FsdpParams& params) {
  for (const Divided& divided : kDivided) {
    if (divided.replicas == params.replicas) return divided.name;
  }
  return "unknown";
}

class Fsdp final : public FsdpStep {
 public:
  using Params = FsdpParams;
  using FsdpStep::FsdpStep;

  static CaseName NameOf(const Params& p) {
    return CaseName("fsdp")
        .Word("sharded", NameOfDivided(p))
        .Word("model", p.step.model.name)
        .Word("precision", PrecisionName(p.step.precision))
        .Value("reshard", p.sharding.reshard_after_forward)
        .Value("prefetch", p.sharding.prefetch)
        .Value("ranks", p.ranks)
        .Value("batch", p.step.batch)
        .Value("seq", p.step.seq);
  }

  static std::vector<Expectation> Expectations(const Device& device) {
    std::vector<Expectation> expected = {
        {"a rank sends as many bytes as computed",
         {.counter = "sent_bytes", .per = "predicted_sent_bytes"},
         About(1, 1e-4)},  // replicas pad their buffers
        {"the peak is predicted within 2 %",
         {.counter = "peak_bytes",
          .per = "predicted_peak_bytes",
          .rows = {{"sharded", "everything"}}},
         About(1, 0.02)},
        {"two ranks keep half of the state each",
         {.counter = "state_bytes",  // replicas in bf16 keep no fp32 copies
          .rows = {{"sharded", "everything"},
                   {"precision", "fp32"},
                   {"ranks", "2"}},
          .versus = {{"sharded", "nothing"},
                     {"reshard", "0"},
                     {"prefetch", "0"}}},
         About(0.5, 0.02)},
        {"at equal bytes it is at most 15 % slower than a sharded optimizer",
         {.counter = "p50_us",
          .rows = {{"sharded", "everything"}, {"reshard", "0"}},
          .versus = {{"sharded", "optimizer"}, {"prefetch", "0"}}},
         AtMost(1.15)},
        {"resharding lowers the peak",
         {.counter = "peak_bytes",
          .rows = {{"reshard", "1"}},
          .versus = {{"reshard", "0"}}},
         AtMost(1)}};
    if (device.is_cuda()) {
      expected.push_back(
          {"prefetch hides at least half",
           {.counter = "overlap_share", .rows = {{"prefetch", "1"}}},
           AtLeast(0.5)});
    } else {
      expected.push_back({"ranks on one CPU hide less than half",
                          {.counter = "overlap_share"},
                          AtMost(0.5)});
    }
    return expected;
  }

  static SweepPlan<Params> Sweep();
};

Axis<Fsdp::Params> DividedAxis() {
  return {"sharded",
          [](const RunOptions&) {
            std::vector<std::string> names;
            for (const Divided& divided : kDivided) {
              names.emplace_back(divided.name);
            }
            return names;
          },
          [](absl::string_view name, const RunOptions&, Fsdp::Params& p) {
            for (const Divided& divided : kDivided) {
              if (divided.name != name) continue;
              p.replicas = divided.replicas;
              return true;
            }
            return false;
          }};
}

SweepPlan<Fsdp::Params> Fsdp::Sweep() {
  std::vector<Axis<Params>> axes = StepAxes<Params>(&Params::step, {"mode"});
  axes.emplace_back("ranks", &Params::ranks, WholeNumbers{1, kMostRanks});
  axes.push_back(DividedAxis());
  axes.emplace_back(
      "reshard",
      [](Params& p) -> bool& { return p.sharding.reshard_after_forward; },
      WholeNumbers{0, 1});
  axes.emplace_back(
      "prefetch", [](Params& p) -> bool& { return p.sharding.prefetch; },
      WholeNumbers{0, 1});
  const std::string one =
      "precision=fp32 sharded=everything reshard=1 prefetch=1 ";
  const std::string whole =
      "precision=fp32 sharded=nothing,optimizer reshard=0 prefetch=0 ";
  const std::string fp32 =
      "precision=fp32 sharded=everything reshard=0,1 prefetch=0,1 ";
  const std::string bf16 =
      "precision=bf16 sharded=everything reshard=1 prefetch=1 ";
  const std::string tiny = "model=tiny batch=1 seq=128 ranks=2";
  const std::string small = "model=small batch=4 seq=128 ranks=2";
  const std::string paper = "model=tiny,small,xl batch=4 seq=128 ranks=2,4,6";
  return {.axes = std::move(axes),
          .grids = {.smoke = {one + "model=tiny batch=1 seq=32 ranks=2"},
                    .smoke_gpu = {one + "model=small batch=4 seq=32 ranks=2"},
                    .quick = {whole + tiny, one + tiny},
                    .quick_gpu = {"precision=fp32 sharded=everything "
                                  "reshard=0,1 prefetch=1 " +
                                  small},
                    .full = {whole + tiny, fp32 + tiny},
                    .paper = {whole + paper, fp32 + paper, bf16 + paper}},
          .complete = [](Params& p, const RunOptions&, const Device& device) {
            p.step.mode = StepMode::kTrainStep;
            p.backend = BackendFor(device);
            // They gather nothing: one name for what is the same work.
            if (p.replicas) p.sharding = FsdpStep::kOfReplicas;
            return true;
          }};
}

const bool kFsdpRegistered = Register<Fsdp>();

}  // namespace
}  // namespace trainbench
