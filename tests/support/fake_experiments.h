// SPDX-License-Identifier: MIT
// Two experiments that do nothing, registered as a program registers its own.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"

namespace trainbench {

template <typename Derived>
class FakeExperiment : public Workload {
 public:
  struct Params {
    std::string kind;
    int64_t seq;
  };
  FakeExperiment(const Params&, const Device&) {}
  static std::vector<Axis<Params>> Axes() {
    return {
        {"kind", &Params::kind,
         std::vector<std::string>{"naive", "fused", "sdpa"}, std::identity()},
        {"seq", &Params::seq}};
  }
  static CaseName NameOf(const Params& p) {
    return CaseName(Derived::kName).Word("kind", p.kind).Value("seq", p.seq);
  }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

class FakeSoftmax final : public FakeExperiment<FakeSoftmax> {
 public:
  using FakeExperiment::FakeExperiment;
  static constexpr char kName[] = "softmax";
  static SweepPlan<Params> Sweep() {
    return {.axes = Axes(),
            .grids = {.smoke = {"kind:seq=naive:64,fused:64,fused:128"},
                      .paper = {"kind=fused seq=64Ki"}}};
  }
};

class FakeAttention final : public FakeExperiment<FakeAttention> {
 public:
  using FakeExperiment::FakeExperiment;
  static constexpr char kName[] = "attention";
  static SweepPlan<Params> Sweep() {
    return {.axes = Axes(), .grids = {.smoke = {"kind=naive,sdpa seq=64"}}};
  }
};

inline const bool kFakeExperiments =
    Register<FakeSoftmax>() && Register<FakeAttention>();

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
