// SPDX-License-Identifier: MIT
// A fixture with behavior that a test scripts, cases of it, a GPU to describe
// them for, and options with which a case is short or exists at all.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_FIXTURE_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_FIXTURE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/experiment/case.h"
#include "fixtures/experiment/run_options.h"

namespace trainbench {

// The functions that a FakeFixture calls, each optional.
struct Script {
  std::function<void()> build = {};
  std::function<absl::Status()> check = {};
  std::function<absl::Status()> check_output = {};
  std::function<void()> prepare = {};
  std::function<void(PhaseObserver&)> run = {};
  std::function<void(State&)> body = {};  // instead of `run`, with its own loop
  std::function<absl::StatusOr<ExtraMetrics>(const Samples&)> measure_extra =
      {};
  std::function<absl::StatusOr<ExtraMetrics>()> measure_profiled = {};
  int64_t uncounted_bytes = 0;
};

// Without a script, its call does nothing.
class FakeFixture : public Fixture {
 public:
  explicit FakeFixture(Script script = {}) : script_(std::move(script)) {
    ++alive_;
    ++built_;
    if (script_.build) {
      try {
        script_.build();
      } catch (...) {
        --alive_;  // no destructor runs after a failed build
        throw;
      }
    }
  }
  ~FakeFixture() override { --alive_; }

  absl::Status Check() override {
    return script_.check ? script_.check() : absl::OkStatus();
  }
  absl::Status CheckOutput() override {
    return script_.check_output ? script_.check_output()
                                : Fixture::CheckOutput();
  }
  void Prepare() override {
    if (script_.prepare) script_.prepare();
  }
  void Run(State& state) override {
    if (script_.body) return script_.body(state);
    for (auto _ : state) {
      if (script_.run) script_.run(state.phases());
    }
  }
  int64_t UncountedBytes() const override { return script_.uncounted_bytes; }
  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    return script_.measure_extra ? script_.measure_extra(sampling)
                                 : Fixture::MeasureExtra(sampling);
  }
  absl::StatusOr<ExtraMetrics> MeasureProfiled() override {
    return script_.measure_profiled ? script_.measure_profiled()
                                    : Fixture::MeasureProfiled();
  }

  // The number of fixtures alive, and of all ever built.
  static int alive() { return alive_; }
  static int built() { return built_; }

 private:
  static inline int alive_ = 0;
  static inline int built_ = 0;
  Script script_;
};

inline Case MakeFakeCase(const std::string& experiment, Script script = {},
                         const Cost& cost = {}) {
  return {.name = CaseName(experiment), .cost = cost, .build = [script] {
            return std::make_unique<FakeFixture>(script);
          }};
}

// Cases that are only described.

inline Case Named(const std::string& name, const std::string& baseline = "") {
  return {.name = CaseName(name), .baseline = baseline};
}

inline Case OfRanks(const std::string& name, int count) {
  return {.name = CaseName(name),
          .options = {.ranks = RankPlan{.count = count}}};
}

// A GPU that need not exist.
inline Device FakeGpu() {
  Device gpu;
  gpu.kind = DeviceKind::kCuda;
  return gpu;
}

// Options with so many calls of warm-up and six samples, the fewest possible.
inline RunOptions ShortRun(int warmup_calls) {
  RunOptions options;
  options.warmup_calls = warmup_calls;
  options.sampling_seconds = 0;
  return options;
}

// For Registration::Where: the cases exist only if the options have this
// axis, so that other tests of the program do not see them.
inline auto OnRequest(const std::string& axis) {
  return [axis](const auto&, const RunOptions& options, const Device&) {
    return options.axes.contains(axis);
  };
}

inline std::vector<std::string> NamesOf(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& each : cases) names.push_back(each.name.text());
  return names;
}

// Keeps the host busy for `us` and returns the time spent, by steady_clock.
inline double SpinUs(double us) {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  std::chrono::duration<double, std::micro> spent{};
  while (spent.count() < us) spent = steady_clock::now() - begin;
  return spent.count();
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_FIXTURE_H_
