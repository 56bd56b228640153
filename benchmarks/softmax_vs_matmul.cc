// SPDX-License-Identifier: MIT
// Question: Why does softmax take as long as a matrix product with 25 times its
//   FLOPs?
// Expect: Because it moves bytes. Q K^T has 2 d FLOP per score, softmax 5: the
//   flop_ratio to the qk row is 5 / (2 d) = 0.039 for d 64, 0.031 for d 80. The
//   naive softmax makes 8 passes over the fp32 scores, 32 bytes per score,
//   while qk reads 8 d / T and writes 4: 5 bytes for d 64 and T 512, a
//   byte_ratio of 6.4. The fused softmax reads and writes once, 8 bytes, a
//   byte_ratio of 1.6. So where bandwidth decides, the naive softmax takes up
//   to 6 times the time of qk in spite of its FLOPs, and the fused softmax a
//   quarter of the naive. On a CPU, where the product is nearer to its
//   arithmetic limit, both ratios are smaller: 40 GFLOP/s per core give qk 3.2
//   ns per score, and 10 GB/s give the naive softmax 3.2 ns too.

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/softmax_vs_matmul/attention_ops.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/accounting/attention_ops.h"
#include "model/nn/dtype.h"
#include "model/spec/precision.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

class SoftmaxVsMatmul final : public Workload {
 public:
  struct Params {
    AttentionOp part;
    Precision precision;  // fp32 or bf16
    int64_t batch;
    int64_t heads;
    int64_t seq;
    int64_t d_head;
  };

  static SweepPlan<Params> Sweep();

  static CaseName NameOf(const Params& p) {
    return CaseName("softmax_vs_matmul")
        .Word("part", AttentionOpName(p.part))
        .Word("precision", PrecisionName(p.precision))
        .Value("batch", p.batch)
        .Value("heads", p.heads)
        .Value("seq", p.seq)
        .Value("d_head", p.d_head);
  }

  static std::vector<Expectation> Expectations(const Device& device) {
    const auto versus = [](const std::string& counter, const std::string& part,
                           const std::string& other) {
      return Quantity{.counter = counter,
                      .rows = {{"part", part}, {"d_head", "64"}},
                      .versus = {{"part", other}}};
    };
    std::vector<Expectation> expected = {
        {"softmax has 0.039 of the FLOPs of QK^T for d 64",
         versus("flops", "softmax_naive", "qk"), About(0.039, 0.01)},
        {"naive softmax takes up to 6 times as long as QK^T",
         versus("p50_us", "softmax_naive", "qk"), AtMost(6)},
        {"fused softmax takes at least a quarter of naive softmax",
         versus("p50_us", "softmax_fused", "softmax_naive"), AtLeast(0.25)}};
    if (!device.is_cuda()) {
      expected.push_back({"naive softmax takes about as long as QK^T on a CPU",
                          versus("p50_us", "softmax_naive", "qk"),
                          About(1, 0.25)});
    }
    return expected;
  }

  static Cost CostOf(const Params& p, const Device&) {
    const AttentionOpQuery query = {.part = p.part,
                                    .batch = p.batch,
                                    .heads = p.heads,
                                    .seq = p.seq,
                                    .d_head = p.d_head,
                                    .bf16 = p.precision == Precision::kBf16};
    Cost cost;
    cost.flops = AttentionOpFlops(query);
    // Only matrix products compare with the measured peaks of a precision.
    if (IsMatmul(p.part)) cost.precision = p.precision;
    cost.bytes = AttentionOpBytes(query);
    return cost;
  }

  // The product that makes scores of the same shape.
  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, &Params::part, AttentionOp::kQk);
  }

  static MeasurementOptions OptionsOf(const Params&) {
    return {.hold = true, .cold_cache = true};
  }

  SoftmaxVsMatmul(const Params& p, const Device& device)
      : p_(p),
        matmul_(p.precision),
        inputs_(RandomOpInputs(p.part, {p.batch, p.heads, p.seq, p.d_head},
                               at::TensorOptions()
                                   .device(TorchDevice(device))
                                   .dtype(WeightType(p.precision)))) {}

  absl::Status Check() override { return VerifyAttentionOp(p_.part, inputs_); }

  void Run(PhaseObserver&) override { ComputeAttentionOp(p_.part, inputs_); }

 private:
  Params p_;
  MatmulScope matmul_;
  AttentionOpInputs inputs_;
};

SweepPlan<SoftmaxVsMatmul::Params> SoftmaxVsMatmul::Sweep() {
  const std::string all = " part=qk,softmax_naive,softmax_fused,pv";
  const std::string small = "precision=fp32 heads:d_head=12:64 batch=4 seq=";
  return {
      .axes = {{"precision", &Params::precision,
                std::vector{Precision::kFp32, Precision::kBf16}, PrecisionName},
               {"heads", &Params::heads, {1, 1024}},
               {"d_head", &Params::d_head, {1, 1024}},
               {"batch", &Params::batch},
               {"seq", &Params::seq},
               {"part", &Params::part, kAttentionOps, AttentionOpName}},
      .grids = {
          .smoke = {"precision=fp32 heads:d_head=2:32 batch=1 seq=64" + all},
          .quick = {small + "512" + all},
          .quick_gpu = {"precision=bf16 heads:d_head=16:64 batch=4 "
                        "seq=2048" +
                        all},
          .full = {small + "128,512" + all},
          // small, medium, large, xl and 2.7B.
          .paper = {"precision=fp32,bf16 "
                    "heads:d_head=12:64,16:64,20:64,25:64,32:80 batch=4 "
                    "seq=128,256,512,1024" +
                    all}}};
}

const bool kSoftmaxVsMatmulRegistered = Register<SoftmaxVsMatmul>();

}  // namespace
}  // namespace trainbench
