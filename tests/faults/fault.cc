// SPDX-License-Identifier: MIT
// A small matrix product as an experiment. Every case except the good ones
// misbehaves in its own way, "fresh_..." in a process of its own.

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

constexpr int64_t kSize = 64;
constexpr char kFresh[] = "fresh_";

class Fault : public Fixture {
 public:
  struct Params {
    std::string kind;
    int64_t n;
  };

  // Some faults would end the process in their dry run.
  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    return {.fresh_process = absl::StartsWith(p.kind, kFresh),
            .runs_dry = false};
  }

  Fault(const Params& p, const Device& device) : kind_(p.kind) {
    // The first repetition succeeds, a later one fails.
    static int builds = 0;
    if (fault_ == "throws_in_second_build" && ++builds > 1) {
      throw std::runtime_error("cannot be built again");
    }
    const auto options = at::TensorOptions().device(TorchDevice(device));
    a_ = at::randn({kSize, kSize}, options);
  }

  absl::Status Check() override {
    if (fault_ == "wrong") return absl::DataLossError("c[0] is 3, should be 4");
    return absl::OkStatus();
  }

  void Run(State& state) override {
    for (auto _ : state) {
      ++calls_;
      Misbehave();
      at::mm(a_, a_);
    }
  }

 private:
  static void Sleep(int64_t milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

  void Misbehave() const {
    if (fault_ == "throws" && calls_ >= 3) {
      throw std::runtime_error("no third call");
    }
    // Exceeds the address space, so overcommit cannot grant it.
    if (fault_ == "no_memory") at::empty({int64_t{1} << 46}, at::kFloat);
    if (fault_ == "terminates") {
      std::thread([] {
        throw std::runtime_error("nobody catches this");
      }).join();
    }
    if (fault_ == "exits") {
      std::fputs("cannot go on\n", stderr);
      std::_Exit(7);
    }
    if (fault_ == "hangs") Sleep(3'600'000);
    // Alternates between 25 and 75 ms, so the median's confidence interval
    // stays wide.
    if (fault_ == "slow") Sleep(calls_ % 2 == 0 ? 25 : 75);
  }

  std::string kind_;
  absl::string_view fault_ = absl::StripPrefix(kind_, kFresh);
  int64_t calls_ = 0;
  at::Tensor a_;
};

TRAINBENCH_REGISTER(Fault, "fault/kind/n")
    ->Axis("kind", &Fault::Params::kind,
           {"good", "throws_in_second_build", "wrong", "throws", "no_memory",
            "terminates", "hangs", "slow", "fresh_good", "fresh_wrong",
            "fresh_terminates", "fresh_exits", "fresh_hangs"})
    ->Axis("n", &Fault::Params::n, WholeNumbers{0, 1})
    // A good case comes before and after the bad ones.
    ->Smoke("n=0", "kind=good n=1");

}  // namespace
}  // namespace trainbench
