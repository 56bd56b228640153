// SPDX-License-Identifier: MIT
// Question: How fast do bytes move between host and device, and within each,
//   and from which size on does bandwidth, not latency, set the time?
// Expect: Time = latency + bytes / bandwidth. A latency of 5 us at 50 GB/s
//   (PCIe 5) is worth 250 KB: below that size the time stays the same, above it
//   grows with the bytes, and only from 2.5 MB on is 90 % of the bandwidth
//   reached. The host first copies pageable memory to a pinned buffer, so it
//   reaches half of that or less. A copy within a GPU counts twice the bytes
//   and runs at the memory's bandwidth, 3 TB/s on an H100: 60 times the link.
//   On a CPU data that fits the last-level cache moves several times as fast as
//   larger data. Ordinary stores read a line before they write it: a memset
//   moves 2 bytes for each counted byte, a memcpy 3 for 2, so beyond the cache
//   memset shows 3/4 of memcpy's bytes per second.

#include "model/ops/transfer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

constexpr int64_t kKiB = int64_t{1} << 10;
constexpr int64_t kMiB = int64_t{1} << 20;

class TransferBytes final : public Workload {
 public:
  struct Params {
    TransferKind kind;
    int64_t bytes;  // copied or set
  };

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device);

  static std::vector<Expectation> Expectations(const Device& device);

  static CaseName NameOf(const Params& p);

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = TransferTraffic(p.kind, p.bytes),
            .predicted_peak_bytes = TransferMemory(p.kind, p.bytes)};
  }

  // The other transfers go over a link, from memory that no GPU caches.
  static MeasurementOptions OptionsOf(const Params& p) {
    const bool on_gpu = p.kind == TransferKind::kD2d;
    return {.hold = on_gpu, .cold_cache = on_gpu};
  }

  TransferBytes(const Params& p, const Device& device)
      : device_(device), transfer_(p.kind, p.bytes, TorchDevice(device)) {}

  absl::Status Check() override {
    transfer_.Poison();
    transfer_.Enqueue();
    device_.Synchronize();
    return transfer_.CheckArrived();
  }

  void Run(PhaseObserver&) override { transfer_.Enqueue(); }

 private:
  const Device& device_;
  Transfer transfer_;
};

std::vector<Expectation> TransferBytes::Expectations(const Device& device) {
  const std::string large = absl::StrCat(256 * kMiB);
  if (device.is_cuda()) {
    return {{"pageable memory reaches half of pinned memory's rate, or less",
             {.counter = "bytes_per_second",
              .rows = {{"host_memory", "pageable"}, {"size", large}},
              .versus = {{"host_memory", "pinned"}}},
             AtMost(0.5)}};
  }
  return {{"beyond the cache memset has 3/4 of memcpy's bytes per second",
           {.counter = "bytes_per_second",
            .rows = {{"direction", "memset"}, {"size", large}},
            .versus = {{"direction", "memcpy"}}},
           About(0.75, 0.15)}};
}

CaseName TransferBytes::NameOf(const Params& p) {
  CaseName name("transfer");
  switch (p.kind) {
    case TransferKind::kH2dPinned:
      name.Word("direction", "h2d").Word("host_memory", "pinned");
      break;
    case TransferKind::kH2dPageable:
      name.Word("direction", "h2d").Word("host_memory", "pageable");
      break;
    case TransferKind::kD2hPinned:
      name.Word("direction", "d2h").Word("host_memory", "pinned");
      break;
    case TransferKind::kD2hPageable:
      name.Word("direction", "d2h").Word("host_memory", "pageable");
      break;
    case TransferKind::kD2d:
      name.Word("direction", "d2d");
      break;
    case TransferKind::kMemcpy:
      name.Word("direction", "memcpy");
      break;
    case TransferKind::kMemset:
      name.Word("direction", "memset");
      break;
  }
  return name.Value("size", p.bytes);
}

std::vector<int64_t> SizesOf(Suite suite, const Device& device) {
  switch (suite) {
    case Suite::kSmoke:
      return {64 * kKiB};
    case Suite::kQuick:
      if (device.is_cuda()) return {64 * kKiB, 4 * kMiB, 256 * kMiB};
      return {64 * kKiB, 4 * kMiB, 64 * kMiB, 256 * kMiB};
    case Suite::kPaper:
      return {kKiB,     4 * kKiB,  16 * kKiB, 64 * kKiB,  256 * kKiB, kMiB,
              4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB};
  }
  return {};
}

std::vector<TransferBytes::Params> TransferBytes::Sweep(
    const RunOptions& options, const Device& device) {
  std::vector<Params> cases;
  for (const TransferKind kind : TransferKinds(TorchDevice(device).type())) {
    for (const int64_t bytes : SizesOf(options.suite, device)) {
      cases.push_back({kind, bytes});
    }
  }
  return cases;
}

const bool kRegistered = Register<TransferBytes>();

}  // namespace
}  // namespace trainbench
