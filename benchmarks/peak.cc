// SPDX-License-Identifier: MIT
// Question: How fast can this device be? What are the most FLOP/s of a matrix
//   product in each precision, the most bytes/s of a copy, an update in place
//   or any other pass over memory, and the least time of an operation that does
//   next to nothing?
// Expect: Large products reach 75 to 95 % of the data sheet: 60 of 67 TFLOP/s
//   in fp32 and 790 of 989 in bf16 on an H200; a CPU core with two AVX-512
//   units at 2.8 GHz has at most 2 * 16 * 2 * 2.8e9 = 179 GFLOP/s, and less
//   where units are shared. LibTorch takes MKL for fp32 on a CPU, which is as
//   fast as oneDNN on Intel's and up to 2.3 times slower on AMD's with AVX-512
//   (linear); implementation=fused takes the faster. A copy reads and writes
//   every byte: 90 % of 4.8 TB/s on an H200, some 10 GB/s per CPU core.
//   LibTorch's copy on a CPU also loads the lines that it overwrites, three
//   moves for two that count, so an update in place reaches 1.5 times the rate
//   of a copy. The passes of stream count what memory moves, these lines too:
//   the fastest of them, often a read or a triad with non-temporal stores, is
//   the roof. An operation on one element takes the time of the dispatcher and
//   a launch: below 5 us on a CPU, 2 to 5 us on a GPU. In the same run, other
//   experiments report their rates as shares of these peaks: mfu_measured and
//   bandwidth_share.

#include <string>
#include <vector>

#include "benchmarks/peak/peak_kernels.h"
#include "benchmarks/peak/stream.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/timing/statistics.h"
#include "model/fused/mm.h"
#include "model/nn/dtype.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

constexpr int kOpsPerCall = 1000;

// [m, k] times [k, n]. The best rate over all shapes is the peak.
class PeakMatmul final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
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

  // Also of the other works of this experiment.
  static std::vector<Expectation> Expectations(const Device& device);

  static Cost CostOf(const Params& p, const Device&) {
    const int64_t width = c10::elementSize(WeightType(p.precision));
    const int64_t elements = p.m * p.k + p.k * p.n + p.m * p.n;
    return {.flops =
                2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k),
            .precision = p.precision,
            .bytes = static_cast<double>(elements * width)};
  }

  static SweepPlan<Params> Sweep();

  static MeasurementOptions OptionsOf(const Params&) { return {.hold = true}; }

  PeakMatmul(const Params& p, const Device& device)
      : scope_(p.precision),
        product_(p.m, p.n, p.k, p.precision, TorchDevice(device)) {}

  absl::Status Check() override { return product_.Verify(); }
  void Run(PhaseObserver&) override { product_.Multiply(); }

 private:
  MatmulScope scope_;
  MatrixProduct product_;
};

// fp32 products of a linear layer on a CPU, by each library that LibTorch has.
class PeakLinear final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
  struct Params {
    ProductLibrary library;
    int64_t m, n, k;
  };

  static CaseName NameOf(const Params& p) {
    return CaseName("peak")
        .Word("work", "linear")
        .Word("precision", PrecisionName(Precision::kFp32))
        .Word("library", ProductLibraryName(p.library))
        .Value("m", p.m)
        .Value("n", p.n)
        .Value("k", p.k);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    return PeakMatmul::CostOf({Precision::kFp32, p.m, p.n, p.k}, device);
  }

  static std::string Unavailable(const Params& p, const Device&) {
    return ProductLibraryUnavailable(p.library);
  }

  static SweepPlan<Params> Sweep() {
    // Tokens times the widths of the model small.
    return {.axes = {{"library", &Params::library, kProductLibraries,
                      ProductLibraryName},
                     {"m", &Params::m},
                     {"n", &Params::n},
                     {"k", &Params::k}},
            .grids = {.smoke = {"library=mkl,onednn m:n:k=64:64:64"},
                      .quick = {"library=mkl,onednn m:n:k=512:3072:768"},
                      .full = {"library=mkl,onednn m:n:k=512:3072:768,"
                               "512:768:3072,512:10000:768,512:768:768"}},
            .complete = [](Params&, const RunOptions&, const Device& device) {
              return !device.is_cuda();
            }};
  }

  PeakLinear(const Params& p, const Device&)
      : scope_(Precision::kFp32), product_(p.m, p.n, p.k, p.library) {}

  absl::Status Check() override { return product_.Verify(); }
  void Run(PhaseObserver&) override { product_.Multiply(); }

 private:
  MatmulScope scope_;
  MatrixProduct product_;
};

std::vector<Expectation> PeakMatmul::Expectations(const Device& device) {
  const Expectation overhead = {
      "an operation takes at most 5 us", {.counter = "op_us"}, AtMost(5)};
  if (device.is_cuda()) {
    return {{"large products reach 75 % of the data sheet or more",
             {.counter = "mfu_datasheet", .rows = {{"work", "matmul"}}},
             AtLeast(0.75)},
            overhead};
  }
  const std::string mkl(ProductLibraryName(ProductLibrary::kMkl));
  const std::string onednn(ProductLibraryName(ProductLibrary::kOneDnn));
  const bool is_onednn =
      FasterLibrary(512, 3072, 768) == ProductLibrary::kOneDnn;
  return {{"an update in place has 1.5 times the rate of a copy",
           {.counter = "bytes_per_second",
            .rows = {{"work", "update"}},
            .versus = {{"work", "copy"}}},
           About(1.5, 0.15)},
          {"implementation=fused takes the faster library, or one as fast",
           {.counter = "flops_per_second",
            .rows = {{"work", "linear"}, {"library", is_onednn ? onednn : mkl}},
            .versus = {{"library", is_onednn ? mkl : onednn}}},
           AtLeast(0.95)},
          overhead};
}

SweepPlan<PeakMatmul::Params> PeakMatmul::Sweep() {
  using enum Precision;
  // Squares, and the tall shapes on which the best rates have been reported.
  return {.axes = {{"precision", &Params::precision,
                    std::vector{kFp32, kTf32, kBf16}, PrecisionName},
                   {"m", &Params::m},
                   {"n", &Params::n},
                   {"k", &Params::k}},
          .grids = {.smoke = {"precision=fp32 m:n:k=256:256:256"},
                    .quick = {"precision=fp32,bf16 m:n:k=2048:2048:2048"},
                    .quick_gpu = {"precision=fp32,tf32,bf16 "
                                  "m:n:k=4096:4096:4096,8192:8192:8192,"
                                  "2048:2048:13312"},
                    .full = {"precision=fp32,bf16 m:n:k=1024:1024:1024,"
                             "2048:2048:2048,512:3072:3072"}},
          // Emulated arithmetic is no peak.
          .complete = [](Params& p, const RunOptions&, const Device& device) {
            return p.precision == kFp32 || device.is_cuda() ||
                   (p.precision == kBf16 && device.native_bf16);
          }};
}

struct Size {
  int64_t bytes;
};

// Sizes well beyond the caches.
SweepPlan<Size> SizeSweep() {
  return {.axes = {{"size", &Size::bytes, {8, kMostBytes, 8}}},
          .grids = {.smoke = {"size=1Mi"},
                    .quick = {"size=256Mi"},
                    .quick_gpu = {"size=4Gi"},
                    .full = {"size=256Mi,512Mi"}}};
}

// Copies one buffer to another.
class PeakCopy final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
  using Params = Size;

  static CaseName NameOf(const Params& p) {
    return CaseName("peak").Word("work", "copy").Value("size", p.bytes);
  }

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = 2.0 * static_cast<double>(p.bytes)};
  }

  static SweepPlan<Params> Sweep() { return SizeSweep(); }

  static MeasurementOptions OptionsOf(const Params&) {
    return {.hold = true, .cold_cache = true};
  }

  PeakCopy(const Params& p, const Device& device)
      : copy_(p.bytes, at::TensorOptions().device(TorchDevice(device))) {}

  absl::Status Check() override { return copy_.Verify(); }
  void Run(PhaseObserver&) override { copy_.Copy(); }

 private:
  MemoryCopy copy_;
};

// Updates one buffer in place.
class PeakUpdate final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
  using Params = Size;

  static CaseName NameOf(const Params& p) {
    return CaseName("peak").Word("work", "update").Value("size", p.bytes);
  }

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = 2.0 * static_cast<double>(p.bytes)};
  }

  static SweepPlan<Params> Sweep() { return SizeSweep(); }

  static MeasurementOptions OptionsOf(const Params&) {
    return {.hold = true, .cold_cache = true};
  }

  PeakUpdate(const Params& p, const Device& device)
      : update_(p.bytes, at::TensorOptions().device(TorchDevice(device))) {}

  absl::Status Check() override { return update_.Verify(); }
  void Run(PhaseObserver&) override { update_.Update(); }

 private:
  InPlaceUpdate update_;
};

// Passes over memory on all threads, on a CPU.
class PeakStream final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
  struct Params {
    StreamKernel kernel;
    Stores stores;
    int64_t size;  // bytes of each buffer
  };

  static CaseName NameOf(const Params& p) {
    return CaseName("peak")
        .Word("work", "stream")
        .Word("kernel", StreamKernelName(p.kernel))
        .Word("stores", StoresName(p.stores))
        .Value("size", p.size);
  }

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = StreamTraffic(p.kernel, p.stores, p.size),
            .bytes_are_all = true};
  }

  static std::string Unavailable(const Params& p, const Device&) {
    return StreamUnavailable(p.kernel, p.stores);
  }

  static SweepPlan<Params> Sweep() {
    const std::string all =
        "kernel=copy,scale,add,triad,update,read "
        "stores=ordinary,non_temporal ";
    return {
        .axes = {{"kernel", &Params::kernel, kStreamKernels, StreamKernelName},
                 {"stores", &Params::stores, kStores, StoresName},
                 {"size", &Params::size, {64, kMostBytes, 64}}},
        .grids = {.smoke = {all + "size=1Mi"},
                  .quick = {"kernel:stores=read:ordinary,update:ordinary,"
                            "triad:non_temporal size=256Mi"},
                  .full = {all + "size=256Mi"}},
        .complete = [](Params& p, const RunOptions&, const Device& device) {
          // What a read stores and what an update loads is no choice.
          return !device.is_cuda() && (p.stores == Stores::kOrdinary ||
                                       p.kernel != StreamKernel::kRead);
        }};
  }

  PeakStream(const Params& p, const Device&)
      : stream_(p.kernel, p.stores, p.size) {}

  absl::Status Check() override { return stream_.Verify(); }
  void Run(PhaseObserver&) override { stream_.Run(); }

 private:
  Stream stream_;
};

// Not held: the host's time is the question.
class PeakOpOverhead final : public Workload {
 public:
  static constexpr bool kRunsFirst = true;
  struct Params {};

  static CaseName NameOf(const Params&) {
    return CaseName("peak")
        .Word("work", "op_overhead")
        .Value("ops", kOpsPerCall);
  }
  static SweepPlan<Params> Sweep() {
    return {.axes = {}, .grids = {.smoke = {""}}};
  }

  PeakOpOverhead(const Params&, const Device& device)
      : chain_(kOpsPerCall, at::TensorOptions().device(TorchDevice(device))) {}

  absl::Status Check() override { return chain_.Verify(); }
  void Run(PhaseObserver&) override { chain_.Run(); }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    std::vector<double> per_op;
    for (const Sample& sample : sampling.samples) {
      per_op.push_back(sample.total_us / kOpsPerCall);
    }
    return ExtraMetrics{{{"op_us", Median(per_op)}}, {}};
  }

 private:
  OpOverhead chain_;
};

const bool kMatmulRegistered = Register<PeakMatmul>();
const bool kLinearRegistered = Register<PeakLinear>();
const bool kCopyRegistered = Register<PeakCopy>();
const bool kUpdateRegistered = Register<PeakUpdate>();
const bool kStreamRegistered = Register<PeakStream>();
const bool kOverheadRegistered = Register<PeakOpOverhead>();

}  // namespace
}  // namespace trainbench
