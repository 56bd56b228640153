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

#include "benchmarks/transfer/transfer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class TransferBytes final : public Workload {
 public:
  struct Params {
    TransferKind kind;
    int64_t bytes;  // copied or set
  };

  static SweepPlan<Params> Sweep();

  static std::vector<Expectation> Expectations(const Device& device);

  static CaseName NameOf(const Params& p);

  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = TransferTraffic(p.kind, p.bytes)};
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
  const std::vector<std::string> words =
      absl::StrSplit(TransferKindName(p.kind), '_');
  CaseName name("transfer");
  name.Word("direction", words.front());
  if (words.size() > 1) name.Word("host_memory", words.back());
  return name.Value("size", p.bytes);
}

SweepPlan<TransferBytes::Params> TransferBytes::Sweep() {
  const std::string cpu = "transfer=memcpy,memset size=";
  const std::string gpu =
      "transfer=h2d_pinned,h2d_pageable,d2h_pinned,d2h_pageable,d2d size=";
  const std::string all = "1Ki,4Ki,16Ki,64Ki,256Ki,1Mi,4Mi,16Mi,64Mi,256Mi,1Gi";
  return {
      .axes = {{"transfer", &Params::kind, kTransferKinds, TransferKindName},
               {"size", &Params::bytes, {8, kMostBytes, 8}}},
      .grids = {.smoke = {cpu + "64Ki"},
                .smoke_gpu = {gpu + "64Ki"},
                .quick = {"transfer=memcpy size=64Ki,4Mi,256Mi",
                          "transfer=memset size=256Mi"},
                .quick_gpu = {gpu + "64Ki,256Mi"},
                .full = {cpu + "64Ki,4Mi,64Mi,256Mi"},
                .paper = {cpu + all},
                .paper_gpu = {gpu + all}},
      .complete = [](Params& p, const RunOptions&, const Device& device) {
        const bool on_cpu =
            p.kind == TransferKind::kMemcpy || p.kind == TransferKind::kMemset;
        return on_cpu != device.is_cuda();
      }};
}

const bool kTransferBytesRegistered = Register<TransferBytes>();

}  // namespace
}  // namespace trainbench
