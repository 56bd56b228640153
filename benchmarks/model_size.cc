// SPDX-License-Identifier: MIT
// Question: How long do the forward pass, the backward pass and the optimizer
//   of a Transformer language model take as the model grows, and how close to
//   its peak does the device run?
// Expect: Time follows the FLOPs, 2 per token and matrix element in the forward
//   pass. small has 120.9 M of these (12 blocks of 9.44 M and a head of 7.68
//   M), tiny 2.33 M, so small takes 52 times as long where both keep the device
//   busy, and less where tiny does not. The backward pass does twice the FLOPs
//   of the forward pass, so backward_us / forward_us is near 2. The optimizer
//   multiplies nothing and moves 28 bytes per parameter whatever the batch, so
//   its share of the step falls as the step has more tokens.

#include <memory>
#include <string>
#include <vector>

#include "fixtures/experiment.h"
#include "model/accounting/flops.h"
#include "model/accounting/memory.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"
#include "model/train_step.h"
#include "model/verification.h"

namespace trainbench {
namespace {

class ModelSize final : public Workload {
 public:
  struct Params {
    ModelConfig model;
    Precision precision;
    StepMode mode;
    int64_t batch;
    int64_t seq;
  };

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device);

  static CaseName NameOf(const Params& p) {
    return CaseName("model_size")
        .Word("model", p.model.name)
        .Word("precision", PrecisionName(p.precision))
        .Word("mode", StepModeName(p.mode))
        .Value("batch", p.batch)
        .Value("seq", p.seq);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    const MemoryQuery query{p.model,     p.batch, p.seq,
                            p.precision, p.mode,  !device.native_bf16};
    const MemoryEstimate memory = EstimateMemory(query);
    return {.flops = StepFlops(p.model, p.batch, p.seq, p.mode),
            .bytes = StepBytes(query),
            .params = ParameterCount(p.model),
            .parameter_bytes = memory.parameter_bytes,
            .predicted_peak_bytes = memory.peak.bytes};
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    if (p.precision == Precision::kTf32 && !device.is_cuda()) {
      return "tf32 is a mode of NVIDIA GPUs; this device is a CPU";
    }
    return "";
  }

  ModelSize(const Params& p, const Device& device)
      : p_(p),
        matmul_(p.precision),
        model_(p.model, at::TensorOptions()
                            .device(device.torch_device)
                            .dtype(WeightType(p.precision))),
        batch_(
            RandomBatch(p.model.vocab, p.batch, p.seq, device.torch_device)) {
    if (p.mode == StepMode::kTrainStep) {
      optimizer_ =
          std::make_unique<AdamW>(Parameters(model_), AdamWKind::kFused);
    }
  }

  absl::Status Check() override {
    return VerifyStep(p_.mode, model_, optimizer_.get(), p_.precision);
  }

  void Run(PhaseObserver& phases) override {
    RunStep(p_.mode, model_, optimizer_.get(), batch_, p_.precision, phases);
  }

 private:
  Params p_;
  MatmulScope matmul_;
  TransformerLm model_;
  Batch batch_;
  std::unique_ptr<AdamW> optimizer_;
};

struct Scale {
  std::vector<std::string> models;
  std::vector<Precision> precisions;
  int64_t batch;
  std::vector<int64_t> seqs;
};

Scale ScaleOf(Suite suite, const Device& device) {
  using enum Precision;
  const std::vector<std::string> published = {"small", "medium", "large", "xl",
                                              "2.7B"};
  switch (suite) {
    case Suite::kSmoke:
      return {{"tiny"}, {kFp32, kBf16Autocast}, 2, {32}};
    case Suite::kQuick:
      // Emulated bf16 is slower than fp32, and minutes of it tell no more.
      if (!device.is_cuda() && !device.native_bf16) {
        return {{"tiny", "small"}, {kFp32}, 4, {128}};
      }
      if (!device.is_cuda()) {
        return {{"tiny", "small"}, {kFp32, kBf16Autocast}, 4, {128}};
      }
      return {{"tiny", "small", "medium", "large", "xl", "2.7B"},
              {kFp32, kTf32, kBf16Autocast},
              4,
              {512}};
    case Suite::kPaper:
      return {
          published, {kFp32, kTf32, kBf16Autocast}, 4, {128, 256, 512, 1024}};
  }
  return {};
}

std::vector<ModelSize::Params> ModelSize::Sweep(const RunOptions& options,
                                                const Device& device) {
  const Scale scale = ScaleOf(options.suite, device);
  const std::vector<int64_t> seqs =
      options.seq ? std::vector<int64_t>{*options.seq} : scale.seqs;
  std::vector<Params> cases;
  for (const ModelConfig& model : SelectModels(options, scale.models)) {
    for (const Precision precision : scale.precisions) {
      for (const StepMode mode :
           {StepMode::kForward, StepMode::kForwardBackward,
            StepMode::kTrainStep}) {
        for (const int64_t seq : seqs) {
          cases.push_back({model, precision, mode,
                           options.batch.value_or(scale.batch), seq});
        }
      }
    }
  }
  return cases;
}

const bool kRegistered = Register<ModelSize>();

}  // namespace
}  // namespace trainbench
