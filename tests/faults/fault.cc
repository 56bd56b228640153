// SPDX-License-Identifier: MIT
// A small matrix product as an experiment. Every case except the good ones
// misbehaves in its own way.

#include <ATen/ops/allclose.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "tests/faults/kinds.h"

namespace trainbench {
namespace {

constexpr int64_t kSize = 64;

class Fault : public Fixture {
 public:
  struct Params {
    FaultKind kind;
    int64_t n;  // numbers the good cases
  };

  static CaseName NameOf(const Params& p) {
    CaseName name("fault");
    name.Word("kind", p.kind.name);
    if (p.kind.name == "good") name.Value("n", p.n);
    return name;
  }

  // Some faults would end the process in their dry run.
  static MeasurementOptions OptionsOf(const Params& p) {
    return {.fresh_process = p.kind.fresh_process,
            .runs_dry = p.kind.build == nullptr && p.kind.run == nullptr};
  }

  Fault(const Params& p, const Device& device) : kind_(p.kind) {
    if (kind_.build != nullptr) kind_.build();
    const auto options = at::TensorOptions().device(TorchDevice(device));
    a_ = at::randn({kSize, kSize}, options);
    b_ = at::randn({kSize, kSize}, options);
  }

  absl::Status Check() override {
    if (kind_.check != nullptr) return kind_.check();
    const at::Tensor exact = at::mm(a_.to(at::kDouble), b_.to(at::kDouble));
    if (at::allclose(at::mm(a_, b_).to(at::kDouble), exact, 1e-3, 1e-3)) {
      return absl::OkStatus();
    }
    return absl::DataLossError("the product is wrong");
  }

  void Run(State& state) override {
    for (auto _ : state) {
      state.phase(Phase::kForward);
      ++fault_.calls;
      if (kind_.run != nullptr) kind_.run(fault_);
      at::mm(a_, b_);
    }
    state.cost().flops = 2.0 * kSize * kSize * kSize + kind_.flops;
    state.SetBytesProcessed(3.0 * kSize * kSize * sizeof(float));
  }

 private:
  FaultKind kind_;
  FaultState fault_;
  at::Tensor a_;
  at::Tensor b_;
};

// Returns the grid of all kinds, with the good cases numbered.
std::string FaultGrid() {
  std::string cases = "kind:n=";
  int64_t good = 0;
  for (const FaultKind& kind : FaultKinds()) {
    absl::StrAppend(&cases, cases.back() == '=' ? "" : ",", kind.name, ":",
                    kind.name == "good" ? good++ : 0);
  }
  return cases;
}

TRAINBENCH_REGISTER(Fault, "fault")
    ->Axis("kind", &Fault::Params::kind, FaultKinds(), &FaultKind::name)
    ->Axis("n", &Fault::Params::n, WholeNumbers{0, 1})
    ->Smoke(FaultGrid());

}  // namespace
}  // namespace trainbench
