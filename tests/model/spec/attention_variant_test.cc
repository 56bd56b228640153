// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/golden.h"

namespace trainbench {
namespace {

TEST(AttentionVariantTest, IsUnavailableForTheReasonsOfTheGolden) {
  std::string printed;
  const auto add = [&](const std::string& title, DeviceKind device, bool bf16,
                       int64_t d_head, int64_t shared_bytes,
                       int capability = 0) {
    absl::StrAppend(&printed, "=== ", title, "\n");
    for (const AttentionKind kind : kAttentionKinds) {
      const std::string why = AttentionUnavailable(kind, device, bf16, d_head,
                                                   shared_bytes, capability);
      absl::StrAppend(&printed, AttentionName(kind), ": ",
                      why.empty() ? "yes" : why, "\n");
    }
  };
  for (const bool bf16 : {false, true}) {
    const std::string dtype = bf16 ? "bf16" : "fp32";
    add("CPU, " + dtype, DeviceKind::kCpu, bf16, 128, 1);
    for (const int64_t d_head : {6, 16, 32, 40, 64, 80, 100, 128, 320}) {
      add(absl::StrCat("GPU, ", dtype, ", heads of ", d_head),
          DeviceKind::kCuda, bf16, d_head, /*unknown*/ 0);
    }
    for (const int64_t kib : {99, 163}) {
      for (const int64_t d_head : {64, 128}) {
        add(absl::StrCat("GPU of ", kib, " KiB in a block, ", dtype,
                         ", heads of ", d_head),
            DeviceKind::kCuda, bf16, d_head, kib << 10);
      }
    }
  }
  add("GPU of compute capability 9.0, bf16, heads of 192", DeviceKind::kCuda,
      true, 192, /*unknown*/ 0, 90);
  ExpectGolden("attention_unavailable.txt", printed);
}

}  // namespace
}  // namespace trainbench
