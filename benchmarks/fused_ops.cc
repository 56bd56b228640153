// SPDX-License-Identifier: MIT
// Question: How much faster is an operation that passes once over its tensors
//   than LibTorch's operators and than the formula written out, and how close
//   does each come to the memory bandwidth?
// Expect: Fused is 2 to 10 times as fast as the formula written out, which also
//   moves every intermediate result. Per element in fp32, the forward pass
//   moves 16 bytes instead of 40 for residual and norm, 12 instead of 32 for
//   SwiGLU, and 6 instead of 48 for scale, mask and softmax; cross entropy and
//   its gradient move 8 instead of 90. The gain is larger where the textbook's
//   temporaries are new pages in each call, and smaller where a CPU's
//   exponentials take longer than its memory. LibTorch is in between: its norm
//   and its SiLU are one pass each, but the residual and SwiGLU's value take
//   another. It has no rotary embedding. A row counts the fewest bytes
//   possible, so bandwidth_share is a grade: one pass is near 1 where the
//   tensors exceed the caches, and may exceed 1 where they fit. On a GPU a
//   forward pass begins with an empty cache, a backward pass with what its
//   forward pass left there.

#include "benchmarks/fused_ops/fused_ops.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/nn/dtype.h"
#include "model/spec/config.h"
#include "model/spec/implementation.h"
#include "model/spec/precision.h"

namespace trainbench {
namespace {

std::string PassName(std::optional<Phase> pass) {
  return PhaseName.Or(pass, "both");
}

class FusedOps : public Fixture {
 public:
  struct Params {
    FusedOp op;
    Implementation implementation;
    ModelConfig model;
    Precision precision;        // fp32 or bf16
    std::optional<Phase> pass;  // nullopt: both
    int64_t batch;
    int64_t seq;
  };

  static std::string Unavailable(const Params& p, const Device& device) {
    return FusedOpUnavailable(p.op, p.implementation, device.kind, p.model);
  }

  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    return {.timed_phase = p.pass, .hold = true, .cold_cache = true};
  }

  FusedOps(const Params& p, const Device& device)
      : p_(p),
        call_(p.op, p.implementation, p.model, p.batch, p.seq,
              at::device(TorchDevice(device)).dtype(WeightType(p.precision))) {}

  absl::Status Check() override { return call_.Verify(); }

  // Some operations overwrite their input.
  void Prepare() override { call_.Restore(); }

  void Run(State& state) override {
    for (auto _ : state) {
      state.phase(Phase::kForward);
      const std::vector<at::Tensor> results = call_.Forward();
      state.phase(Phase::kBackward);
      call_.Backward(results);
    }
    state.SetBytesProcessed(FusedOpBytes(p_.op, p_.pass, p_.model, p_.batch,
                                         p_.seq,
                                         BitsOf(WeightType(p_.precision)) / 8));
  }

 private:
  Params p_;
  FusedOpCall call_;
};

TRAINBENCH_REGISTER(
    FusedOps, "fused_ops/op/implementation/model/precision/pass/batch/seq")
    ->Axis(ModelAxis<FusedOps::Params>(&FusedOps::Params::model))
    ->Axis("precision", &FusedOps::Params::precision,
           {Precision::kFp32, Precision::kBf16}, PrecisionName)
    ->Axis("batch", &FusedOps::Params::batch)
    ->Axis("seq", &FusedOps::Params::seq)
    ->Axis("op", &FusedOps::Params::op, FusedOpName)
    ->Axis("pass", &FusedOps::Params::pass,
           {Phase::kForward, Phase::kBackward, std::nullopt}, PassName)
    ->Axis("implementation", &FusedOps::Params::implementation,
           ImplementationName)
    ->Baseline("implementation", "textbook")
    ->Smoke("model=tiny precision=fp32 batch=1 seq=32")
    ->Quick("pass=forward,both model=small precision=fp32 batch=4 seq=128")
    ->QuickOnGpu(
        "op=add_rms_norm,swiglu,causal_softmax,cross_entropy model=2.7B "
        "precision=bf16 batch=4 seq=512")
    ->Full("model=small precision=fp32 batch=4 seq=128")
    ->Paper(absl::StrCat("precision=fp32,bf16 batch=4 seq=128,1024 model=",
                         kPublishedModels))
    // The fused cross entropy computes the gradient in its forward pass, so
    // only the sum of both passes is comparable.
    ->Where([](const FusedOps::Params& p) {
      return (p.op == FusedOp::kCrossEntropy) == !p.pass.has_value();
    })
    ->Expect(
        "cross entropy in one pass takes less than half of the textbook's time",
        Time()
            .Of("op=cross_entropy implementation=fused")
            .Versus("implementation=textbook"),
        AtMost(0.5))
    ->Expect(
        "causal softmax in one pass takes less than half of the textbook's "
        "time",
        Time()
            .Of("op=causal_softmax implementation=fused")
            .Versus("implementation=textbook"),
        AtMost(0.5))
    ->Expect("SwiGLU in one pass is faster than the textbook's",
             Time()
                 .Of("op=swiglu implementation=fused")
                 .Versus("implementation=textbook"),
             AtMost(1))
    ->Expect("a norm with the residual is faster than the textbook's",
             Time()
                 .Of("op=add_rms_norm implementation=fused")
                 .Versus("implementation=textbook"),
             AtMost(1))
    ->Expect("a norm with the residual is faster than LibTorch's two operators",
             Time()
                 .Of("op=add_rms_norm implementation=fused")
                 .Versus("implementation=library"),
             AtMost(1))
    ->Expect("LibTorch's SiLU is faster than the textbook's",
             Time()
                 .Of("op=swiglu implementation=library")
                 .Versus("implementation=textbook"),
             AtMost(1));

}  // namespace
}  // namespace trainbench
