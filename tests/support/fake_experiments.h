// SPDX-License-Identifier: MIT
// Two experiments that do nothing, registered as a program registers its own.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "fixtures/experiment/experiment.h"
#include "tests/support/fake_fixture.h"

namespace trainbench {

class FakeExperiment : public FakeFixture {
 public:
  struct Params {
    std::string kind;
    int64_t seq;
  };
  FakeExperiment(const Params&, const Device&) {}
};

inline Registration<FakeExperiment>* RegisterFake(absl::string_view name) {
  return Register<FakeExperiment>(name)
      ->Axis("kind", &FakeExperiment::Params::kind, {"naive", "fused", "sdpa"})
      ->Axis("seq", &FakeExperiment::Params::seq);
}

inline const auto* const kFakeSoftmax =
    RegisterFake("softmax/kind/seq")
        -> Smoke("kind:seq=naive:64,fused:64,fused:128")
            -> Paper("kind=fused seq=64Ki");

inline const auto* const kFakeAttention =
    RegisterFake("attention/kind/seq") -> Smoke("kind=naive,sdpa seq=64");

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_EXPERIMENTS_H_
