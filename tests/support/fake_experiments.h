// SPDX-License-Identifier: MIT
// Two experiments that do nothing, registered as a program registers its own.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_

#include <cstdint>
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
  static CaseName NameOf(const Params& p) {
    return CaseName(Derived::kName).Word("kind", p.kind).Value("seq", p.seq);
  }
  static Cost CostOf(const Params&, const Device&) { return {}; }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

class FakeSoftmax final : public FakeExperiment<FakeSoftmax> {
 public:
  using FakeExperiment::FakeExperiment;
  static constexpr char kName[] = "softmax";
  static std::vector<Params> Sweep(const RunOptions& options, const Device&) {
    if (options.suite == Suite::kPaper) return {{"fused", 65536}};
    return {{"naive", 64}, {"fused", 64}, {"fused", 128}};
  }
};

class FakeAttention final : public FakeExperiment<FakeAttention> {
 public:
  using FakeExperiment::FakeExperiment;
  static constexpr char kName[] = "attention";
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{"naive", 64}, {"sdpa", 64}};
  }
};

inline const bool kFakeExperiments =
    Register<FakeSoftmax>() && Register<FakeAttention>();

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
