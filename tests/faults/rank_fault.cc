// SPDX-License-Identifier: MIT
// A distributed experiment in which rank 1 misbehaves, once per kind and n.

#include <sys/types.h>
#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {
namespace {

constexpr int64_t kBytes = 4096;
// Suffixes of kinds that start an all-gather or a reduce-scatter and wait for
// it, like fully sharded ranks, instead of an all-reduce.
constexpr char kGathering[] = "_gathering", kReducing[] = "_reducing";
// The number of times that each fault must be survived.
constexpr int64_t kRounds = 20;

class RankFault : public Fixture {
 public:
  struct Params {
    std::string kind;
    int64_t n;
    int ranks;
  };

  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    return {.runs_dry = false, .ranks = RankPlan{.count = p.ranks}};
  }

  RankFault(const Params& p, const Device& device, ProcessGroup& group)
      : kind_(p.kind),
        gathers_(absl::ConsumeSuffix(&fault_, kGathering)),
        reduces_(absl::ConsumeSuffix(&fault_, kReducing)),
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

  void Run(State& state) override {
    for (auto _ : state) {
      // At that time the other ranks are in the middle of the collective.
      if (++calls_ == 3) Misbehave();
      if (gathers_) {
        Await(group_.StartAllGather(values_, MyPart()));
      } else if (reduces_) {
        Await(group_.StartReduceScatter(MyPart(), values_));
      } else {
        group_.AllReduce(values_);
      }
    }
  }

 private:
  bool Is(const char* fault) const { return is_culprit_ && fault_ == fault; }

  at::Tensor MyPart() const {
    return values_.chunk(
        group_.size())[static_cast<std::size_t>(group_.rank())];
  }

  void Misbehave() {
    if (Is("killed")) ::raise(SIGKILL);
    if (Is("asleep")) std::this_thread::sleep_for(std::chrono::hours(1));
    if (Is("throws")) throw std::runtime_error("no third call");
    // Exceeds the address space, so overcommit cannot grant it.
    if (Is("no_memory")) at::empty({int64_t{1} << 46}, at::kFloat);
    // Behaves like a library, e.g. NCCL with NCCL_DEBUG.
    if (fault_ == "chatty") std::puts("version 2.28.9");
    // All ranks sleep, so none waits for another.
    if (fault_ == "endless") std::this_thread::sleep_for(std::chrono::hours(1));
  }

  std::string kind_;
  absl::string_view fault_ = kind_;
  bool gathers_, reduces_;
  bool is_culprit_;
  ProcessGroup& group_;
  at::Tensor values_;
  int64_t calls_ = 0;
};

std::vector<std::string> RankFaultKinds() {
  std::vector<std::string> kinds = {
      "killed",          "asleep", "throws",  "chatty",
      "throws_in_build", "wrong",  "endless", "good"};
  for (const char* fault : {"killed", "asleep", "throws", "no_memory"}) {
    for (const char* where : {kGathering, kReducing}) {
      kinds.push_back(absl::StrCat(fault, where));
    }
  }
  return kinds;
}

std::string Rounds() {
  std::vector<int64_t> rounds(kRounds);
  std::iota(rounds.begin(), rounds.end(), int64_t{0});
  return absl::StrJoin(rounds, ",");
}

// Slow, so only in the paper suite.
TRAINBENCH_REGISTER(RankFault, "rank_fault/kind/ranks/n")
    ->Axis("n", &RankFault::Params::n, WholeNumbers{0, kRounds})
    ->Axis("kind", &RankFault::Params::kind, RankFaultKinds())
    ->Axis("ranks", &RankFault::Params::ranks, kRankCounts)
    ->Paper(absl::StrCat("ranks=2 n=", Rounds()));

}  // namespace
}  // namespace trainbench
