// SPDX-License-Identifier: MIT
// Question: How fast do bytes move between host and device, and within each,
//   and from which size on does bandwidth, not latency, limit a transfer?
// Expect: Time = latency + bytes / bandwidth. A latency of 5 us at 50 GB/s
//   (PCIe 5) is worth 250 KB: below that size the time stays the same, above it
//   grows with the bytes, and from 9 * 250 KB = 2.25 MB on 90 % of the
//   bandwidth is reached. Pageable memory reaches half of the rate or less,
//   because the host first copies it to a pinned buffer. A copy within a GPU
//   counts twice the bytes and runs at the memory's bandwidth, 3 TB/s on an
//   H100: 60 times the link. On a CPU, data that fits the last-level cache
//   moves several times as fast as larger data. Beyond the cache memset shows
//   3/4 of memcpy's bytes per second: ordinary stores read a line before
//   writing it, so memset moves 2 bytes for 1 counted, memcpy 3 for 2.

#include "benchmarks/transfer/transfer.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

class TransferBytes : public Fixture {
 public:
  struct Params {
    TransferKind kind;
    int64_t bytes;  // copied or set
  };

  static CaseName NameOf(const Params& p);

  // Only d2d: the other transfers use a link, from memory that no GPU caches.
  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    const bool on_gpu = p.kind == TransferKind::kD2d;
    return {.hold = on_gpu, .cold_cache = on_gpu};
  }

  TransferBytes(const Params& p, const Device& device)
      : p_(p),
        device_(device),
        transfer_(p.kind, p.bytes, TorchDevice(device)) {}

  absl::Status Check() override {
    transfer_.Poison();
    transfer_.Enqueue();
    device_.Synchronize();
    return transfer_.CheckArrived();
  }

  void Run(State& state) override {
    for (auto _ : state) transfer_.Enqueue();
    state.SetBytesProcessed(TransferTraffic(p_.kind, p_.bytes));
  }

 private:
  Params p_;
  const Device& device_;
  Transfer transfer_;
};

CaseName TransferBytes::NameOf(const Params& p) {
  const std::vector<std::string> words =
      absl::StrSplit(TransferKindName(p.kind), '_');
  CaseName name("transfer");
  name.Word("direction", words.front());
  if (words.size() > 1) name.Word("host_memory", words.back());
  return name.Value("size", p.bytes);
}

constexpr char kEachSize[] =
    " size=1Ki,4Ki,16Ki,64Ki,256Ki,1Mi,4Mi,16Mi,64Mi,512Mi,1Gi";
constexpr char kAllTransfersOnGpu[] =
    "transfer=h2d_pinned,h2d_pageable,d2h_pinned,d2h_pageable,d2d";

TRAINBENCH_REGISTER(TransferBytes, "transfer")
    ->Axis("transfer", &TransferBytes::Params::kind, TransferKindName)
    ->Axis("size", &TransferBytes::Params::bytes,
           WholeNumbers{8, kMostBytes, 8})
    ->Smoke("transfer=memcpy,memset size=64Ki")
    ->SmokeOnGpu(absl::StrCat(kAllTransfersOnGpu, " size=64Ki"))
    ->Quick("transfer=memcpy size=64Ki,4Mi,512Mi", "transfer=memset size=512Mi")
    ->QuickOnGpu(absl::StrCat(kAllTransfersOnGpu, " size=1Ki,64Ki,4Mi,512Mi"))
    ->Full("transfer=memcpy,memset size=64Ki,4Mi,64Mi,512Mi")
    ->Paper(absl::StrCat("transfer=memcpy,memset", kEachSize))
    ->PaperOnGpu(absl::StrCat(kAllTransfersOnGpu, kEachSize))
    ->Where([](const TransferBytes::Params& p, const RunOptions&,
               const Device& device) {
      return absl::c_linear_search(TransferKinds(TorchDevice(device).type()),
                                   p.kind);
    })
    ->ExpectOnCpu(
        "beyond the cache memset has 3/4 of memcpy's bytes per second",
        Counter("bytes_per_second")
            .Of("direction=memset size=536870912")
            .Versus("direction=memcpy"),
        About(0.75, 0.15))
    ->ExpectOnGpu(
        "pageable memory reaches half of pinned memory's rate, or less",
        Counter("bytes_per_second")
            .Of("host_memory=pageable size=536870912")
            .Versus("host_memory=pinned"),
        AtMost(0.5));

}  // namespace
}  // namespace trainbench
