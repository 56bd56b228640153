// SPDX-License-Identifier: MIT
// Question: How fast can this device be? What are the most FLOP/s of a matrix
//   product in each precision, the most bytes/s of a copy, and the least time
//   of an operation that does nothing?
// Expect: Large products come to 75 to 95 % of the data sheet: 60 of 67 TFLOP/s
//   in fp32 and 790 of 989 in bf16 on an H200; a CPU core with two AVX-512
//   units at 2.8 GHz has 2 * 16 * 2 * 2.8e9 = 179 GFLOP/s at the most, and
//   less where they are shared. A copy reads and writes every byte: 90 % of
//   4.8 TB/s on an H200, some 10 GB/s per CPU core. An operation on one element
//   takes the time that the dispatcher and a launch take: below 1 us on a CPU,
//   2 to 5 us on a GPU. The other experiments give their rates as shares of
//   these, mfu_measured and copy_share, if they are in the same run.

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "fixtures/experiment.h"
#include "fixtures/statistics.h"

namespace trainbench {
namespace {

constexpr int kOpsPerCall = 1000;

// [m, k] times [k, n], the best of which over all shapes is the peak.
class PeakMatmul final : public Workload {
 public:
  static constexpr bool kIsPeak = true;
  struct Params {
    Precision precision;
    int64_t m, n, k;
  };

  static CaseName NameOf(const Params& p) {
    return CaseName("peak")
        .Word("work", "matmul")
        .Word("precision", PrecisionName(p.precision))
        .Value("m", p.m)
        .Value("n", p.n)
        .Value("k", p.k);
  }

  static Cost CostOf(const Params& p, const Device&) {
    const int64_t width = c10::elementSize(WeightType(p.precision));
    const int64_t elements = p.m * p.k + p.k * p.n + p.m * p.n;
    return {.flops =
                2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k),
            .precision = p.precision,
            .bytes = static_cast<double>(elements * width),
            .predicted_peak_bytes = elements * width};
  }

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device);

  PeakMatmul(const Params& p, const Device& device)
      : matmul_(p.precision),
        a_(at::randn({p.m, p.k}, OptionsOf(p, device))),
        b_(at::randn({p.k, p.n}, OptionsOf(p, device))),
        c_(at::empty({p.m, p.n}, OptionsOf(p, device))) {}

  // Of some rows, against float64: a whole product of this size takes too long.
  absl::Status Check() override {
    at::mm_out(c_, a_, b_);
    const at::Tensor rows = a_.slice(0, 0, a_.size(0), a_.size(0) / 4);
    const at::Tensor expected =
        at::mm(rows.to(at::kDouble), b_.to(at::kDouble));
    const at::Tensor actual =
        c_.slice(0, 0, c_.size(0), c_.size(0) / 4).to(at::kDouble);
    const double error =
        ((actual - expected).norm() / expected.norm()).item<double>();
    // Twice the unit roundoff of a tf32 or bf16 result; fp32 is far below.
    const double allowed = a_.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-9;
    if (error <= allowed) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrFormat(
        "the product differs from float64 by %.3g; allowed: %.3g", error,
        allowed));
  }

  void Run(PhaseObserver&) override { at::mm_out(c_, a_, b_); }

 private:
  static at::TensorOptions OptionsOf(const Params& p, const Device& device) {
    return at::TensorOptions()
        .device(device.torch_device)
        .dtype(WeightType(p.precision));
  }

  MatmulScope matmul_;
  at::Tensor a_, b_, c_;
};

std::vector<PeakMatmul::Params> PeakMatmul::Sweep(const RunOptions& options,
                                                  const Device& device) {
  using enum Precision;
  if (options.suite == Suite::kSmoke) return {{kFp32, 256, 256, 256}};
  // Squares, and the tall shapes on which the best rates have been reported.
  std::vector<std::array<int64_t, 3>> shapes = {
      {1024, 1024, 1024}, {2048, 2048, 2048}, {512, 3072, 3072}};
  std::vector<Precision> precisions = {kFp32};
  if (device.native_bf16) precisions.push_back(kBf16);
  if (device.is_cuda()) {
    shapes = {{4096, 4096, 4096},
              {8192, 8192, 8192},
              {2048, 2048, 13312},
              {8192, 2048, 8192}};
    precisions = {kFp32, kTf32, kBf16};
  }
  std::vector<Params> cases;
  for (const Precision precision : precisions) {
    for (const auto& [m, n, k] : shapes) cases.push_back({precision, m, n, k});
  }
  return cases;
}

class PeakCopy final : public Workload {
 public:
  static constexpr bool kIsPeak = true;
  struct Params {
    int64_t bytes;  // copied: as many are read and as many written
  };

  static CaseName NameOf(const Params& p) {
    return CaseName("peak").Word("work", "copy").Value("bytes", p.bytes);
  }

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = 2.0 * static_cast<double>(p.bytes),
            .predicted_peak_bytes = 2 * p.bytes};
  }

  // Well beyond the caches.
  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device) {
    if (options.suite == Suite::kSmoke) return {{1 << 20}};
    if (device.is_cuda()) return {{int64_t{1} << 30}, {int64_t{1} << 32}};
    return {{int64_t{1} << 28}, {int64_t{1} << 29}};
  }

  PeakCopy(const Params& p, const Device& device)
      : from_(at::rand({p.bytes / 4},
                       at::TensorOptions().device(device.torch_device))),
        to_(at::zeros_like(from_)) {}

  absl::Status Check() override {
    to_.copy_(from_);
    if (to_.equal(from_)) return absl::OkStatus();
    return absl::DataLossError("the copy differs from the original");
  }

  void Run(PhaseObserver&) override { to_.copy_(from_); }

 private:
  at::Tensor from_, to_;
};

class OpOverhead final : public Workload {
 public:
  static constexpr bool kIsPeak = true;
  struct Params {};

  static CaseName NameOf(const Params&) {
    return CaseName("peak")
        .Word("work", "op_overhead")
        .Value("ops", kOpsPerCall);
  }
  static Cost CostOf(const Params&, const Device&) { return {}; }
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{}};
  }

  OpOverhead(const Params&, const Device& device)
      : x_(at::zeros({1}, at::TensorOptions().device(device.torch_device))) {}

  absl::Status Check() override {
    NullObserver nobody;
    x_.zero_();
    Run(nobody);
    if (x_.item<double>() == kOpsPerCall) return absl::OkStatus();
    return absl::DataLossError("the additions did not add up");
  }

  void Run(PhaseObserver&) override {
    for (int i = 0; i < kOpsPerCall; ++i) x_.add_(1);
  }

  absl::StatusOr<Findings> Find(const Sampling& sampling) override {
    std::vector<double> per_op;
    for (const Sample& sample : sampling.samples) {
      per_op.push_back(sample.total_us / kOpsPerCall);
    }
    return Findings{{{"op_us", Median(per_op)}}, {}};
  }

 private:
  at::Tensor x_;
};

const bool kMatmulRegistered = Register<PeakMatmul>();
const bool kCopyRegistered = Register<PeakCopy>();
const bool kOverheadRegistered = Register<OpOverhead>();

}  // namespace
}  // namespace trainbench
