// SPDX-License-Identifier: MIT
// Question: How long does an AdamW step take, as separate operations and as one
//   fused kernel, and how close does each come to the memory bandwidth?
// Expect: The textbook takes 3.1 times as long where the tensors exceed the
//   caches. An update reads parameter, gradient and two moments and writes all
//   but the gradient: at least 7 * 4 = 28 bytes per fp32 parameter, with hardly
//   any arithmetic. small (128.6 M parameters) moves 3.6 GB: 0.75 ms at
//   4.8 TB/s, 0.2 s at 18 GB/s. The textbook makes 9 passes per tensor, 88
//   bytes: six read one value and write one (decay, two scalings, root,
//   quotient, eps; 8 bytes each), two read two (moments; 12 each), one reads
//   three (update; 16). For a small model on a GPU, launching 9 operations per
//   tensor, not a handful for all, costs more than the bytes. bandwidth_share
//   may exceed 1 if the best peak row is a copy or an update: half of their
//   accesses are reads, here four of seven, and writes are slower.

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/profiling/attribution.h"
#include "fixtures/profiling/profiler.h"
#include "fixtures/steps/model_step.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"
#include "model/spec/status_macros.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "model/verification/verification.h"

namespace trainbench {
namespace {

class Optimizer : public Fixture {
 public:
  struct Params {
    AdamWKind kind;
    ModelConfig model;
  };

  Optimizer(const Params& p, const Device& device)
      : p_(p),
        device_(device),
        model_(p.model, at::TensorOptions().device(TorchDevice(device))),
        adamw_(Parameters(model_), p.kind) {
    RandomizeGradients(model_);
  }

  absl::Status Check() override {
    return VerifyFirstUpdate(
        {model_->lm_head->weight, model_->layers.front()->ln1->weight,
         model_->layers.front()->ffn->w2->weight},
        adamw_);
  }

  void Run(State& state) override {
    for (auto _ : state) {
      state.phase(Phase::kOptimizer);
      adamw_.Step();
    }
    state.SetBytesProcessed(OptimizerBytes(p_.model, Precision::kFp32));
    state.cost().params = ParameterCount(p_.model);
    state.cost().parameter_bytes = ParameterBytes(p_.model, Precision::kFp32);
  }

  absl::StatusOr<ExtraMetrics> MeasureProfiled() override {
    ASSIGN_OR_RETURN(const Trace trace,
                     Profile(device_, [&] { adamw_.Step(); }));
    // Operations are the host's work, kernels the GPU's.
    const Attribution host = Attribute(trace, TimeOf::kHostOps);
    const auto ops = static_cast<double>(host.Of({}).calls);
    const auto kernels = static_cast<double>(CountKernels(trace));
    return ExtraMetrics{{{"ops_per_step", ops}, {"kernels_per_step", kernels}}};
  }

 private:
  Params p_;
  const Device& device_;
  TransformerLm model_;
  AdamW adamw_;
};

TRAINBENCH_REGISTER(Optimizer, "optimizer/kind/model")
    // In a step, the backward pass runs first and fills the cache.
    ->Options({.cold_cache = true})
    ->Axis(ModelAxis<Optimizer::Params>(&Optimizer::Params::model))
    ->Axis("kind", &Optimizer::Params::kind,
           {AdamWKind::kTextbook, AdamWKind::kFused}, AdamWName)
    ->Baseline("kind", "textbook")
    ->Profiles("kind", "model")
    ->Smoke("model=tiny")
    ->QuickOnGpu("model=xl,2.7B")
    ->Full("model=tiny,small")
    ->Paper(absl::StrCat("model=", kPublishedModels))
    ->Expect([](const Device& device) {
      return Expectation{
          "the textbook form takes 3.1 times as long where the tensors "
          "exceed the caches",
          Time()
              .Of(absl::StrCat("kind=textbook model=",
                               device.is_cuda() ? "xl" : "small"))
              .Versus("kind=fused"),
          About(3.1, 0.25)};
    });

}  // namespace
}  // namespace trainbench
