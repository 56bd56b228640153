// SPDX-License-Identifier: MIT
// Question: What does the exact GELU cost beside its approximation by tanh?
// Expect: Each reads and writes 4 bytes per element. Where the tensor exceeds
//   the caches, memory sets the time, and both take equally long.

#include <ATen/ops/gelu.h>
#include <ATen/ops/randn.h>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

class Gelu final : public Workload {
 public:
  struct Params {
    std::string kind;
    int64_t elements;
  };
  static SweepPlan<Params> Sweep() {
    const std::vector<std::string> kinds = {"none", "tanh"};
    return {.axes = {{"kind", &Params::kind, kinds, std::identity()},
                     {"elements", &Params::elements, {1, kMostBytes}}},
            .grids = {.smoke = {"kind=none,tanh elements=4Ki"},
                      .quick = {"kind=none,tanh elements=1Mi,32Mi"}}};
  }
  static CaseName NameOf(const Params& p) {
    return CaseName("gelu").Word("kind", p.kind).Value("elements", p.elements);
  }
  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = 8.0 * static_cast<double>(p.elements),
            .predicted_peak_bytes = 8 * p.elements,
            .check_peak_bytes = 40 * p.elements};
  }
  static std::vector<Expectation> Expectations(const Device&) {
    const RowSelection exact = {{"kind", "none"}, {"elements", "33554432"}};
    const Quantity ratio = {"p50_us", "", exact, {{"kind", "tanh"}}};
    return {{"exact and approximate take equally long", ratio, About(1, 0.1)}};
  }
  Gelu(const Params& p, const Device& device)
      : p_(p), x_(at::randn({p.elements}, TorchDevice(device))) {}
  absl::Status Check() override {
    const at::Tensor exact = at::gelu(x_.to(at::kDouble), p_.kind);
    const double error = RelativeError(at::gelu(x_, p_.kind), exact);
    if (error < 1e-6) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("the relative error is ", error));
  }
  void Run(PhaseObserver&) override { at::gelu(x_, p_.kind); }

 private:
  Params p_;
  at::Tensor x_;
};
const bool kRegistered = Register<Gelu>();
}  // namespace
}  // namespace trainbench
