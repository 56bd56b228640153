// SPDX-License-Identifier: MIT
// Question: How long does an all-reduce take, and from which size on does
//   bandwidth, not latency, limit it?
// Expect: Time = alpha + bytes / algbw. Over loopback, a Gloo rank copies each
//   byte into the kernel and out of it, and sums half of them: 2.5 passes at 5
//   GB/s are 2 GB/s. alpha = 0.3 ms is worth 600 KB: 1 KiB and 64 KiB take
//   about the same time, and 90 % of the bandwidth is reached from 9 * 600 KB =
//   5 MB on, unless the buffer outgrows the cache. NCCL over NVLink has 30 us
//   and 300 GB/s, worth 9 MB. In a ring each of n ranks sends and receives 2
//   (n-1)/n of the bytes, so busbw = algbw * 2 (n-1)/n is the bandwidth of the
//   slowest link: the same for 2, 4 and 6 ranks with a link each. Ranks on one
//   CPU share its cores and memory, so there busbw falls with n.

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/rank_plan.h"
#include "model/distributed/comm/process_group.h"
#include "model/distributed/comm/traffic.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

// Period of the values that the check writes: a prime, so that no two chunks of
// a ring or bucket hold the same values.
constexpr int64_t kPeriod = 1021;

// Elements of a part that is filled and compared at a time, whole periods: 16
// MiB. So as many ranks as fit can also check.
constexpr int64_t kPart = kPeriod * 4096;

// Returns the factor of a rank's values. So few differ that the sum over all
// ranks is exact in fp32: at most ranks (most + 1) / 2 * kPeriod <= 2^24.
int FactorOf(int rank, int ranks) {
  const int most = (1 << 25) / static_cast<int>(kPeriod) / ranks - 1;
  return rank % most + 1;
}

// Far below the largest fp32, 2^128, as some calls follow without Prepare().
constexpr double kLargest = 0x1p60;

// Compares all parts of `sums` with the same values; DataLoss gives the first
// wrong element.
absl::Status CompareParts(const std::vector<at::Tensor>& sums,
                          const at::Tensor& values, int ranks) {
  int64_t before = 0;
  for (const at::Tensor& sum : sums) {
    const at::Tensor expected = values.narrow(0, 0, sum.numel());
    if (!at::equal(sum, expected)) {
      const int64_t first =
          (sum != expected).to(at::kByte).cpu().argmax().item<int64_t>();
      return absl::DataLossError(absl::StrCat(
          "the sum over ", ranks, " ranks is ", sum[first].item<float>(),
          " instead of ", expected[first].item<float>(), " at element ",
          before + first));
    }
    before += sum.numel();
  }
  return absl::OkStatus();
}

class AllReduce : public Fixture {
 public:
  struct Params {
    CommBackend backend;
    int ranks;
    int64_t bytes;
  };

  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    return {.ranks = RankPlan{
                .count = p.ranks, .backend = p.backend, .alike = true}};
  }

  AllReduce(const Params& p, const Device& device, ProcessGroup& group)
      : params_(p),
        group_(group),
        values_(at::rand({p.bytes / static_cast<int64_t>(sizeof(float))},
                         at::device(TorchDevice(device)))) {}

  // Sums values that differ by rank and position, with every partial sum exact
  // in fp32: a rank has FactorOf(rank, ranks) (i + 1) at element i of a period.
  absl::Status Check() override {
    const int ranks = group_.size();
    const int64_t part = std::min(kPart, values_.numel());
    const at::Tensor place =
        at::arange(part, values_.options()).remainder_(kPeriod).add_(1);
    const std::vector<at::Tensor> parts = values_.split(part);
    for (at::Tensor values : parts) {
      at::mul_out(values, place.narrow(0, 0, values.numel()),
                  at::scalar_tensor(FactorOf(group_.rank(), ranks)));
    }
    group_.AllReduce(values_);
    int sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += FactorOf(rank, ranks);
    place.mul_(sum);
    const absl::Status status = CompareParts(parts, place, ranks);
    values_.uniform_();
    growth_ = 1;
    return status;
  }

  // All ranks verify, whatever one of them finds.
  absl::Status CheckOutput() override {
    absl::Status status = CheckVaried("the buffer", values_);
    status.Update(Check());
    return status;
  }

  // Each call multiplies the values by the number of ranks, so they are scaled
  // down before they overflow: infinities would be constants.
  void Prepare() override {
    if (growth_ < kLargest) return;
    values_.mul_(1 / growth_);
    growth_ = 1;
  }

  void Run(State& state) override {
    for (auto _ : state) {
      group_.AllReduce(values_);
      growth_ *= group_.size();
    }
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    // As nccl-tests defines them (doc/PERFORMANCE.md).
    const double seconds = MedianUs(sampling) * 1e-6;
    const double sent =
        SentBytes(CollectiveKind::kAllReduce, params_.bytes, params_.ranks);
    return ExtraMetrics{{{"algbw_bytes_per_second",
                          static_cast<double>(params_.bytes) / seconds},
                         {"busbw_bytes_per_second", sent / seconds}}};
  }

 private:
  Params params_;
  ProcessGroup& group_;
  at::Tensor values_;
  double growth_ = 1;  // since the values were drawn from [0, 1) or scaled
};

// The paper suite has powers of four from 1 KiB to 1 GiB, and the published 1,
// 10 and 100 MB and 1 GB. On a CPU, 4 and 6 ranks stop at 100 MB, unless
// --ranks selects them. A GPU's quick suite skips Gloo to save time.
constexpr char kSomeSizes[] = "1Ki,64Ki,1Mi,16Mi,100M";
constexpr char kMostSizes[] =
    "1Ki,4Ki,16Ki,64Ki,256Ki,1M,1Mi,4Mi,10M,16Mi,64Mi,100M";
constexpr char kAllSizes[] =
    "1Ki,4Ki,16Ki,64Ki,256Ki,1M,1Mi,4Mi,10M,16Mi,64Mi,100M,256Mi,1G,1Gi";

// Later experiments predict their communication time from these rows.
TRAINBENCH_REGISTER(AllReduce, "all_reduce/backend/ranks/bytes")
    ->RunsFirst()
    ->Axis("backend", &AllReduce::Params::backend, CommBackendName)
    ->Axis("ranks", &AllReduce::Params::ranks, kRankCounts)
    ->Axis("bytes", &AllReduce::Params::bytes, WholeNumbers{4, kMostBytes, 4})
    ->Smoke("backend=gloo ranks=2 bytes=64Ki")
    ->SmokeOnGpu("backend=gloo,nccl ranks=2 bytes=64Ki")
    ->Quick("backend=gloo ranks=2 bytes=1Ki,64Ki,100M")
    ->QuickOnGpu(absl::StrCat("backend=nccl ranks=2 bytes=", kSomeSizes))
    ->Full(absl::StrCat("backend=gloo ranks=2 bytes=", kSomeSizes))
    ->Paper(absl::StrCat("backend=gloo ranks=2 bytes=", kAllSizes),
            absl::StrCat("backend=gloo ranks=4,6 bytes=", kMostSizes),
            absl::StrCat("backend=nccl ranks=2,4,6 bytes=", kAllSizes))
    ->Expect("1 KiB and 64 KiB take about the same time",
             Time().Of("bytes=65536").Versus("bytes=1024"), AtMost(1.25))
    ->Expect("Gloo over loopback has 2 GB/s",
             Counter("busbw_bytes_per_second")
                 .Of("backend=gloo ranks=2 bytes=100000000"),
             About(2e9, 0.3))
    ->ExpectOnH100(
        "NCCL over NVLink has 300 GB/s",
        Counter("busbw_bytes_per_second").Of("backend=nccl bytes=100000000"),
        About(3e11, 0.3));

}  // namespace
}  // namespace trainbench
