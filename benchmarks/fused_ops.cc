// SPDX-License-Identifier: MIT
// Question: How much faster is an operation that reads and writes its tensors
//   once than LibTorch's, and than the same formula written out, and how close
//   does each come to the memory bandwidth?
// Expect: The bytes of a row are the fewest possible, so bandwidth_share is a
//   grade: the share of the copy rate that an operation earns. In one pass it
//   is near 1 where the tensors exceed the caches, and may pass 1 where they
//   fit. Written out, the forward pass moves every intermediate result too: 40
//   bytes per element for residual and norm in fp32 against 16, 32 for SwiGLU
//   against 12, 48 for scale, mask and softmax against 6, and cross entropy
//   and its gradient 90 against 8. So fused is 2 to 10 times as fast, more
//   where the textbook's temporaries are new pages each time, and less where a
//   CPU's exponentials take longer than its memory. LibTorch's operators
//   are in between: its norm and SiLU are one pass each, but leave the residual
//   and the value to another. It has no rotary embedding.

#include "benchmarks/fused_ops/fused_ops.h"

#include <optional>
#include <string>
#include <vector>

#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/nn/dtype.h"
#include "model/spec/config.h"
#include "model/spec/fused_op.h"
#include "model/spec/implementation.h"
#include "model/spec/precision.h"

namespace trainbench {
namespace {

class FusedOps final : public Workload {
 public:
  struct Params {
    FusedOp op;
    Implementation implementation;
    ModelConfig model;
    Precision precision;  // fp32 or bf16
    Pass pass;
    int64_t batch;
    int64_t seq;
  };

  static CaseName NameOf(const Params& p) {
    return CaseName("fused_ops")
        .Word("op", FusedOpName(p.op))
        .Word("implementation", ImplementationName(p.implementation))
        .Word("model", p.model.name)
        .Word("precision", PrecisionName(p.precision))
        .Word("pass", PassName(p.pass))
        .Value("batch", p.batch)
        .Value("seq", p.seq);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto time = [](const std::string& op, const std::string& own,
                         const std::string& other) {
      return Quantity{.counter = "p50_us",
                      .rows = {{"op", op}, {"implementation", own}},
                      .versus = {{"implementation", other}}};
    };
    return {{"cross entropy in one pass takes less than half of the "
             "textbook's time",
             time("cross_entropy", "fused", "textbook"), AtMost(0.5)},
            {"causal softmax in one pass takes less than half of the "
             "textbook's time",
             time("causal_softmax", "fused", "textbook"), AtMost(0.5)},
            {"SwiGLU in one pass is faster than the textbook's",
             time("swiglu", "fused", "textbook"), AtMost(1)},
            {"a norm with the residual is faster than the textbook's",
             time("add_rms_norm", "fused", "textbook"), AtMost(1)},
            {"a norm with the residual is faster than LibTorch's two operators",
             time("add_rms_norm", "fused", "library"), AtMost(1)},
            {"LibTorch's SiLU is faster than the textbook's",
             time("swiglu", "library", "textbook"), AtMost(1)}};
  }

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = FusedOpBytes(p.op, p.pass, p.model, p.batch, p.seq,
                                  BitsOf(WeightType(p.precision)) / 8)};
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    return FusedOpUnavailable(p.op, p.implementation, device.kind,
                              p.model.d_model);
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, &Params::implementation, Implementation::kTextbook);
  }

  static MeasurementOptions OptionsOf(const Params& p) {
    MeasurementOptions options;
    if (p.pass == Pass::kForward) options.timed_phase = Phase::kForward;
    if (p.pass == Pass::kBackward) options.timed_phase = Phase::kBackward;
    options.hold = true;
    options.cold_cache = true;
    return options;
  }

  static SweepPlan<Params> Sweep();

  FusedOps(const Params& p, const Device& device)
      : call_(p.op, p.implementation, p.model, p.batch, p.seq,
              at::TensorOptions()
                  .device(TorchDevice(device))
                  .dtype(WeightType(p.precision))) {}

  absl::Status Check() override { return call_.Verify(); }

  // Some operations overwrite their input.
  void Prepare() override { call_.Restore(); }

  void Run(PhaseObserver& phases) override {
    phases.Enter(Phase::kForward);
    const std::vector<at::Tensor> results = call_.Forward();
    phases.Enter(Phase::kBackward);
    call_.Backward(results);
  }

 private:
  FusedOpCall call_;
};

SweepPlan<FusedOps::Params> FusedOps::Sweep() {
  const std::string kinds = "implementation=textbook,library,fused ";
  const std::string ops =
      "op=add_rms_norm,rope,swiglu,causal_softmax,cross_entropy " + kinds;
  const std::string every = ops + "pass=forward,backward,both ";
  const std::string small = "model=small precision=fp32 batch=4 seq=128";
  return {
      .axes = {ModelAxis<Params>(&Params::model),
               {"precision", &Params::precision,
                std::vector{Precision::kFp32, Precision::kBf16}, PrecisionName},
               {"batch", &Params::batch},
               {"seq", &Params::seq},
               {"op", &Params::op, kFusedOps, FusedOpName},
               {"pass", &Params::pass, kPasses, PassName},
               {"implementation", &Params::implementation, kImplementations,
                ImplementationName}},
      .grids = {.smoke = {every + "model=tiny precision=fp32 batch=1 seq=32"},
                .quick = {ops + "pass=forward,both " + small},
                .quick_gpu = {kinds +
                              "op=add_rms_norm,swiglu,causal_softmax,"
                              "cross_entropy pass=forward,backward,both "
                              "model=2.7B precision=bf16 batch=4 seq=512"},
                .full = {every + small},
                .paper = {every +
                          "precision=fp32,bf16 batch=4 seq=128,1024 "
                          "model=" +
                          kPublishedModels}},
      // The fused cross entropy makes the gradient in its forward pass, so only
      // both passes together compare.
      .complete = [](Params& p, const RunOptions&, const Device&) {
        return (p.op == FusedOp::kCrossEntropy) == (p.pass == Pass::kBoth);
      }};
}

const bool kFusedOpsRegistered = Register<FusedOps>();

}  // namespace
}  // namespace trainbench
