// SPDX-License-Identifier: MIT
// Question: Under autocast, which tensors of a training step have 16 bits and
//   which stay fp32?
// Expect: On a CPU 4 of 7 tensors have 16 bits and on a GPU 3, with fp16 and
//   with bf16: autocast has the same lists for both. Matrix products return 16
//   bits: fc1 and the logits. ReLU keeps the dtype of its input. Only the layer
//   norm differs: CUDA forces fp32, a CPU has no rule and leaves 16 bits. The
//   loss is always cast up to fp32. Weights and gradients stay fp32, because
//   autocast casts only the inputs of operations.

#include <string>

#include "benchmarks/autocast_dtypes/toy_step.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/nn/dtype.h"
#include "model/ops/toy_model.h"
#include "model/spec/status_macros.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

constexpr int64_t kBatch = 32;

class AutocastDtypes : public Fixture {
 public:
  struct Params {
    c10::ScalarType low;
  };

  // States no cost: the dtypes are the answer, and rates would mean nothing.
  AutocastDtypes(const Params& p, const Device& device)
      : p_(p),
        device_(TorchDevice(device)),
        model_(device_),
        data_(RandomToyBatch(kBatch, device_)) {}

  absl::Status Check() override {
    RETURN_IF_ERROR(CheckToyLogits(model_, data_.x, p_.low));
    return CompareDtypes(RunToyStep(model_, data_, p_.low, NoObserver()),
                         DocumentedDtypes(p_.low, device_.type()));
  }

  void Run(State& state) override {
    for (auto _ : state) RunToyStep(model_, data_, p_.low, state.phases());
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    ExtraMetrics extra;
    for (const auto& [name, dtype] :
         RunToyStep(model_, data_, p_.low, NoObserver())) {
      extra.findings.emplace_back(name, DtypeName(dtype));
      extra.counters[std::string(name) + "_bits"] = BitsOf(dtype);
    }
    return extra;
  }

 private:
  Params p_;
  c10::Device device_;
  ToyModel model_;
  ToyBatch data_;
};

TRAINBENCH_REGISTER(AutocastDtypes, "autocast_dtypes/autocast")
    ->Axis("autocast", &AutocastDtypes::Params::low,
           {c10::kHalf, c10::kBFloat16}, DtypeName)
    ->Smoke()
    ->Expect("gradients keep 32 bits", Counter("gradients_bits"), About(32, 0))
    ->Expect("the loss is cast up to 32 bits", Counter("loss_bits"),
             About(32, 0))
    ->Expect("logits have 16 bits", Counter("logits_bits"), About(16, 0))
    ->ExpectOnCpu("the layer norm has 16 bits here", Counter("layer_norm_bits"),
                  About(16, 0))
    ->ExpectOnGpu("the layer norm has 32 bits here", Counter("layer_norm_bits"),
                  About(32, 0));

}  // namespace
}  // namespace trainbench
