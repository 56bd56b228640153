// SPDX-License-Identifier: MIT
// A distributed experiment in which rank 1 misbehaves, in each way once per n.

#include <sys/types.h>
#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {
namespace {

constexpr int64_t kBytes = 4096;
// How often each fault must be survived.
constexpr int64_t kRounds = 20;

class RankFault final : public Workload {
 public:
  struct Params {
    std::string kind;
    int64_t n;
    int ranks;
  };

  // Slow, so only in the paper suite.
  static SweepPlan<Params> Sweep() {
    const std::vector<std::string> kinds = {
        "killed",          "asleep", "throws", "throws_lines", "chatty",
        "throws_in_build", "wrong",  "exits",  "endless",      "good"};
    std::vector<int64_t> rounds(kRounds);
    std::iota(rounds.begin(), rounds.end(), int64_t{0});
    return {.axes = {{"n", &Params::n, {0, kRounds}},
                     {"kind", &Params::kind, kinds, std::identity()},
                     {"ranks", &Params::ranks, {1, kMostRanks}}},
            .grids = {
                .paper = {absl::StrCat("ranks=2 n=", absl::StrJoin(rounds, ","),
                                       " kind=", absl::StrJoin(kinds, ","))}}};
  }

  static CaseName NameOf(const Params& p) {
    return CaseName("rank_fault")
        .Word("kind", p.kind)
        .Value("ranks", p.ranks)
        .Value("n", p.n);
  }

  static Cost CostOf(const Params&, const Device&) {
    return {.predicted_peak_bytes = kBytes};
  }

  static MeasurementOptions OptionsOf(const Params& p) {
    return {.ranks = RankPlan{.count = p.ranks}};
  }

  RankFault(const Params& p, const Device& device, ProcessGroup& group)
      : kind_(p.kind),
        is_culprit_(group.rank() == 1),
        group_(group),
        values_(at::zeros({kBytes / 4}, at::device(TorchDevice(device)))) {
    if (Is("throws_in_build")) throw std::runtime_error("cannot be built");
  }

  absl::Status Check() override {
    if (Is("wrong")) return absl::DataLossError("the sum is 3, should be 4");
    values_.fill_(1);
    group_.AllReduce(values_);
    if (at::all(values_ == group_.size()).item<bool>()) return absl::OkStatus();
    return absl::DataLossError("the sum of ones is not the number of ranks");
  }

  void Run(PhaseObserver&) override {
    // The other ranks are then in the middle of an all-reduce.
    if (++calls_ == 3) Misbehave();
    group_.AllReduce(values_);
  }

 private:
  bool Is(const char* kind) const { return is_culprit_ && kind_ == kind; }

  void Misbehave() {
    if (Is("killed")) ::raise(SIGKILL);
    if (Is("asleep")) std::this_thread::sleep_for(std::chrono::hours(1));
    if (Is("throws")) throw std::runtime_error("no third call");
    if (Is("throws_lines")) throw std::runtime_error("NCCL says:\nno more");
    // Like libraries, e.g. NCCL with NCCL_DEBUG.
    if (kind_ == "chatty") std::puts("version 2.28.9");
    if (Is("exits")) {
      std::fputs("cannot go on\n", stderr);
      std::_Exit(7);
    }
    // On all ranks, so that none waits for another.
    if (kind_ == "endless") std::this_thread::sleep_for(std::chrono::hours(1));
  }

  std::string kind_;
  bool is_culprit_;
  ProcessGroup& group_;
  at::Tensor values_;
  int64_t calls_ = 0;
};

const bool kRegistered = Register<RankFault>();

}  // namespace
}  // namespace trainbench
