// SPDX-License-Identifier: MIT
// Question: How fast can this device be? What are the most FLOP/s of a matrix
//   product in each precision, the most bytes/s of a copy, an update in place
//   or any other pass over memory, and the least time of an operation that does
//   next to nothing?
// Expect: Large products reach 75 to 95 % of the data sheet: 60 of 67 TFLOP/s
//   in fp32 and 790 of 989 in bf16 on an H200. A CPU core with two AVX-512
//   units at 2.8 GHz has at most 2 * 16 * 2 * 2.8e9 = 179 GFLOP/s, and less
//   where units are shared. For fp32 on a CPU LibTorch uses MKL, which is as
//   fast as oneDNN on Intel's CPUs and up to 2.3 times slower on AMD's with
//   AVX-512 (the linear rows); implementation=fused takes the faster. A copy
//   reads and writes every byte: 90 % of 4.8 TB/s on an H200, some 10 GB/s per
//   CPU core. An update in place on a CPU reaches 1.4 times the rate of
//   LibTorch's copy or more: the copy also loads the lines that it overwrites,
//   three moves for two that count, and has two streams. The stream rows count
//   all that memory moves, including these lines: the fastest is the roof. The
//   buffers are larger than most last-level caches. An operation on one element
//   takes the time of the dispatcher and a launch: below 5 us on a CPU, 2 to 5
//   us on a GPU. Other experiments of the same run report their rates as shares
//   of these peaks: mfu_measured and bandwidth_share.

#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmarks/peak/peak_kernels.h"
#include "benchmarks/peak/stream.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/timing/sampler.h"
#include "model/fused/mm.h"
#include "model/nn/dtype.h"
#include "model/spec/status_macros.h"
#include "model/training/precision_scope.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

constexpr int kOpsPerCall = 1000;

// [m, k] times [k, n]. The best rate over all shapes is the peak.
class PeakMatmul : public Fixture {
 public:
  struct Params {
    Precision precision = Precision::kFp32;
    // Empty: LibTorch chooses. Otherwise as in a linear layer, on a CPU.
    std::optional<ProductLibrary> library = {};
    int64_t m, n, k;
  };

  static std::string Unavailable(const Params& p, const Device&) {
    return p.library ? ProductLibraryUnavailable(*p.library) : "";
  }

  PeakMatmul(const Params& p, const Device& device)
      : p_(p),
        scope_(p.precision),
        product_(p.library ? MatrixProduct(p.m, p.n, p.k, *p.library)
                           : MatrixProduct(p.m, p.n, p.k, p.precision,
                                           TorchDevice(device))) {}

  absl::Status Check() override { return product_.Verify(); }

  void Run(State& state) override {
    for (auto _ : state) product_.Multiply();
    const auto& [precision, library, m, n, k] = p_;
    const int64_t width = c10::elementSize(WeightType(precision));
    state.SetBytesProcessed(
        static_cast<double>((m * k + k * n + m * n) * width));
    state.cost().flops =
        2.0 * static_cast<double>(m * n) * static_cast<double>(k);
    state.cost().precision = precision;
  }

 private:
  Params p_;
  MatmulScope scope_;
  MatrixProduct product_;
};

// Squares, the tall shapes on which the best rates have been reported, and the
// products of the model small for few tokens.
TRAINBENCH_REGISTER(PeakMatmul, "peak/work=matmul/precision/m/n/k")
    ->RunsFirst()
    ->Options({.hold = true})
    ->Axis("precision", &PeakMatmul::Params::precision,
           {Precision::kFp32, Precision::kTf32, Precision::kBf16},
           PrecisionName)
    ->Axis("m", &PeakMatmul::Params::m)
    ->Axis("n", &PeakMatmul::Params::n)
    ->Axis("k", &PeakMatmul::Params::k)
    ->Smoke("precision=fp32 m:n:k=256:256:256")
    ->Quick("precision=fp32,bf16 m:n:k=2048:2048:2048")
    ->QuickOnGpu(
        "precision=fp32,tf32,bf16 "
        "m:n:k=4096:4096:4096,8192:8192:8192,2048:2048:13312")
    ->Full(
        "precision=fp32,bf16 "
        "m:n:k=1024:1024:1024,2048:2048:2048,512:3072:3072",
        "precision=bf16 m:n:k=128:3072:768,128:768:3072,128:768:768")
    // Emulated arithmetic is no peak.
    ->Where([](const PeakMatmul::Params& p, const RunOptions&,
               const Device& device) {
      return p.precision == Precision::kFp32 || device.is_cuda() ||
             (p.precision == Precision::kBf16 && device.native_bf16);
    })
    ->ExpectOnGpu("large products reach 75 % of the data sheet or more",
                  Counter("mfu_datasheet").Of("work=matmul"), AtLeast(0.75));

ProductLibrary& LibraryIn(PeakMatmul::Params& p) {
  return p.library ? *p.library : p.library.emplace();
}

Expectation FusedTakesTheFasterLibrary(const Device&) {
  const ProductLibrary faster = FasterLibrary(512, 3072, 768);
  const ProductLibrary other = faster == ProductLibrary::kMkl
                                   ? ProductLibrary::kOneDnn
                                   : ProductLibrary::kMkl;
  return {"implementation=fused takes the faster library, or one as fast",
          Counter("flops_per_second")
              .Of(absl::StrCat("work=linear m=512 n=3072 k=768 library=",
                               ProductLibraryName(faster)))
              .Versus(absl::StrCat("library=", ProductLibraryName(other))),
          AtLeast(0.95)};
}

// fp32 products of the model small on a CPU, by each library that LibTorch has.
// Fewer tokens reach a lower rate.
TRAINBENCH_REGISTER(PeakMatmul, "peak/work=linear/precision=fp32/library/m/n/k")
    ->RunsFirst()
    ->OnCpu()
    ->Axis("library", LibraryIn, ProductLibraryName)
    ->Axis("m", &PeakMatmul::Params::m)
    ->Axis("n", &PeakMatmul::Params::n)
    ->Axis("k", &PeakMatmul::Params::k)
    ->Smoke("m:n:k=64:64:64")
    ->Quick("m:n:k=512:3072:768")
    ->Full(
        "m:n:k=512:3072:768,512:768:3072,512:10000:768,512:768:768,"
        "128:3072:768,128:768:3072,128:10000:768,128:768:768")
    ->Expect(FusedTakesTheFasterLibrary);

enum class Pass { kCopy, kUpdate };

constexpr EnumNames<Pass, 2> PassName{"copy", "update"};

// A pass over buffers of LibTorch that reads `size` bytes and writes as many. A
// copy on a CPU also loads the cache lines that it overwrites; an update in
// place moves no uncounted bytes.
class PeakPass : public Fixture {
 public:
  struct Params {
    Pass work;
    int64_t size;
  };

  PeakPass(const Params& p, const Device& device)
      : p_(p),
        x_(FillVaried(at::empty(
            {p.size / 4}, at::device(TorchDevice(device)).dtype(at::kFloat)))) {
    if (p.work == Pass::kCopy) copy_ = at::zeros_like(x_);
  }

  absl::Status Check() override {
    if (copy_.defined()) copy_.fill_(std::numeric_limits<float>::quiet_NaN());
    const at::Tensor expected = copy_.defined() ? x_ : -x_;
    Once();
    RETURN_IF_ERROR(VerifyEqual(absl::StrCat("the ", PassName(p_.work)),
                                copy_.defined() ? copy_ : x_, expected));
    return CheckVaried("the buffer", x_);
  }

  void Run(State& state) override {
    for (auto _ : state) Once();
    state.SetBytesProcessed(2.0 * static_cast<double>(p_.size));
  }

 private:
  void Once() { copy_.defined() ? copy_.copy_(x_) : x_.mul_(-1); }

  Params p_;
  at::Tensor x_, copy_;
};

TRAINBENCH_REGISTER(PeakPass, "peak/work/size")
    ->RunsFirst()
    ->Options({.hold = true, .cold_cache = true})
    ->Axis("work", &PeakPass::Params::work, PassName)
    ->Axis("size", &PeakPass::Params::size, WholeNumbers{8, kMostBytes, 8})
    ->Smoke("size=1Mi")
    ->Quick("size=512Mi")
    ->QuickOnGpu("size=4Gi")
    ->Full("size=512Mi,1Gi")
    ->ExpectOnCpu(
        "an update in place has at least 1.4 times the rate of a copy",
        Counter("bytes_per_second").Of("work=update").Versus("work=copy"),
        AtLeast(1.4));

// Passes over memory on all threads, on a CPU.
class PeakStream : public Fixture {
 public:
  struct Params {
    StreamKernel kernel;
    Stores stores;
    int64_t size;  // bytes of each buffer
  };

  PeakStream(const Params& p, const Device&)
      : p_(p), stream_(p.kernel, p.stores, p.size) {}

  absl::Status Check() override { return stream_.Verify(); }

  void Run(State& state) override {
    for (auto _ : state) stream_.Run();
    state.SetBytesProcessed(StreamTraffic(p_.kernel, p_.stores, p_.size));
    state.cost().bytes_are_all = true;
  }

 private:
  Params p_;
  Stream stream_;
};

TRAINBENCH_REGISTER(PeakStream, "peak/work=stream/kernel/stores/size")
    ->RunsFirst()
    ->Axis("kernel", &PeakStream::Params::kernel, StreamKernelName)
    ->Axis("stores", &PeakStream::Params::stores, StoresName)
    ->Axis("size", &PeakStream::Params::size, WholeNumbers{64, kMostBytes, 64})
    ->Smoke("kernel=copy,scale,add,triad,update,read size=1Mi")
    ->Quick(
        "kernel:stores=read:ordinary,update:ordinary,triad:non_temporal "
        "size=512Mi")
    ->Full("kernel=copy,scale,add,triad,update,read size=512Mi")
    ->OnCpu()
    // A read stores nothing, so it has only one kind of stores.
    ->Where([](const PeakStream::Params& p) {
      return p.stores == Stores::kOrdinary || p.kernel != StreamKernel::kRead;
    });

// Measures the host's time, so the device is not held.
class PeakOpOverhead : public Fixture {
 public:
  struct Params {};

  PeakOpOverhead(const Params&, const Device& device)
      : chain_(kOpsPerCall, at::TensorOptions().device(TorchDevice(device))) {}

  absl::Status Check() override { return chain_.Verify(); }

  void Run(State& state) override {
    for (auto _ : state) chain_.Run();
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    return ExtraMetrics{{{"op_us", MedianUs(sampling) / kOpsPerCall}}};
  }

 private:
  OpOverhead chain_;
};

TRAINBENCH_REGISTER(PeakOpOverhead,
                    absl::StrCat("peak/work=op_overhead/ops:", kOpsPerCall))
    ->RunsFirst()
    ->Smoke()
    ->Expect("an operation takes at most 5 us", Counter("op_us"), AtMost(5));

}  // namespace
}  // namespace trainbench
