// SPDX-License-Identifier: MIT
// Question: Why does softmax take as long as a matrix product with 25 times its
//   FLOPs?
// Expect: Because it moves bytes. Per score Q K^T has 2 d FLOP and softmax 5,
//   so its flop_ratio to the qk row is 5 / (2 d) = 0.039 for d 64 and 0.031 for
//   d 80. The naive softmax reads or writes the fp32 scores 8 times, 32 bytes
//   per score; qk reads 8 d / T and writes 4, 5 bytes for d 64 and T 512, so
//   the byte_ratio is 6.4. In bf16 naive softmax also casts to fp32 and back,
//   44 bytes, and qk has half the bytes. The fused softmax reads and writes
//   once: 8 bytes in fp32, 4 in bf16. So where bandwidth is the limit, softmax
//   takes up to byte_ratio times as long as qk despite its few FLOPs; a product
//   that is limited by arithmetic takes longer for its bytes. On a CPU it is:
//   qk at 95 GFLOP/s per core takes 1.3 ns per score, and naive softmax 1.6 to
//   2.9 ns where a core moves 20 to 11 GB/s, so one to three times as long.

#include "benchmarks/softmax_vs_matmul/attention_ops.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/prediction/dry_call.h"
#include "model/nn/dtype.h"
#include "model/spec/precision.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

class SoftmaxVsMatmul : public Fixture {
 public:
  struct Params {
    AttentionOp part;
    Precision precision;  // fp32 or bf16
    int64_t batch;
    int64_t heads;
    int64_t seq;
    int64_t d_head;
  };

  SoftmaxVsMatmul(const Params& p, const Device& device)
      : p_(p),
        matmul_(p.precision),
        inputs_(RandomOpInputs(
            p.part, {p.batch, p.heads, p.seq, p.d_head},
            at::device(TorchDevice(device)).dtype(WeightType(p.precision)))) {}

  absl::Status Check() override { return VerifyAttentionOp(p_.part, inputs_); }

  void Run(State& state) override {
    for (auto _ : state) ComputeAttentionOp(p_.part, inputs_);
  }

  void AddToCost(const DryCall& call, Cost& cost) const override {
    const DryWork work = call.Total();
    cost.bytes = work.bytes;
    if (IsMatmul(p_.part)) {
      cost.flops = work.flops;
      cost.precision = p_.precision;  // selects the measured peak
    } else {
      // Compare, subtract, exponential, add, divide: for each score.
      cost.flops = 5 * static_cast<double>(inputs_.a.numel());
      // A cache may keep what the naive softmax's operators hand on.
      cost.least_bytes = 2 * static_cast<double>(inputs_.a.nbytes());
    }
  }

 private:
  Params p_;
  MatmulScope matmul_;
  AttentionOpInputs inputs_;
};

TRAINBENCH_REGISTER(SoftmaxVsMatmul,
                    "softmax_vs_matmul/part/precision/batch/heads/seq/d_head")
    ->Options({.hold = true, .cold_cache = true})
    ->Axis("precision", &SoftmaxVsMatmul::Params::precision,
           {Precision::kFp32, Precision::kBf16}, PrecisionName)
    ->Axis("heads", &SoftmaxVsMatmul::Params::heads, WholeNumbers{1, 1024})
    ->Axis("d_head", &SoftmaxVsMatmul::Params::d_head, WholeNumbers{1, 1024})
    ->Axis("batch", &SoftmaxVsMatmul::Params::batch)
    ->Axis("seq", &SoftmaxVsMatmul::Params::seq)
    ->Axis("part", &SoftmaxVsMatmul::Params::part, AttentionOpName)
    // The product that makes scores of the same shape.
    ->Baseline("part", "qk")
    ->Smoke("precision=fp32 heads:d_head=2:32 batch=1 seq=64")
    ->Quick("precision=fp32 heads:d_head=12:64 batch=4 seq=512")
    ->QuickOnGpu("precision=bf16 heads:d_head=16:64 batch=4 seq=2048")
    ->Full("precision=fp32 heads:d_head=12:64 batch=4 seq=128,512")
    // The heads of small, medium, large, xl and 2.7B.
    ->Paper(
        "precision=fp32,bf16 heads:d_head=12:64,16:64,20:64,25:64,32:80 "
        "batch=4 seq=128,256,512,1024")
    ->Expect(
        "softmax has 0.039 of the FLOPs of QK^T for d 64",
        Counter("flops").Of("part=softmax_naive d_head=64").Versus("part=qk"),
        About(0.039, 0.01))
    ->Expect("naive softmax takes at most 1.1 times as long per byte as QK^T",
             Time()
                 .Per("bytes")
                 .Of("part=softmax_naive d_head=64")
                 .Versus("part=qk"),
             AtMost(1.1))
    ->Expect(
        "fused softmax takes at least 0.9 of naive softmax's time per byte",
        Time()
            .Per("bytes")
            .Of("part=softmax_fused d_head=64")
            .Versus("part=softmax_naive"),
        AtLeast(0.9))
    ->ExpectOnCpu("naive softmax takes one to three times as long on a CPU",
                  Time().Of("part=softmax_naive d_head=64").Versus("part=qk"),
                  About(2, 0.5));

}  // namespace
}  // namespace trainbench
