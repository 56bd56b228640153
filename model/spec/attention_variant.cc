// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainbench {
namespace {

constexpr auto kVariants = std::to_array<AttentionVariant>({
#define ATTENTION(Name, text, ...) {__VA_ARGS__},
#include "model/spec/attention_variants.inc"
#undef ATTENTION
});

bool HasKernel(AttentionKind kind, DeviceKind device) {
  return !AttentionOpPrefix(kind, device).empty();
}

bool TakesType(AttentionKind kind, DeviceKind device, bool bf16) {
  return device == DeviceKind::kCpu || bf16 || VariantOf(kind).fp32_on_cuda;
}

bool TakesHead(AttentionKind kind, DeviceKind device, int64_t d_head) {
  const auto& known = VariantOf(kind).cuda_d_heads;
  return device == DeviceKind::kCpu || known[0] == 0 ||
         std::find(known.begin(), known.end(), d_head) != known.end();
}

// Shared memory of a block, for a head dimension that TakesHead accepts.
int64_t SharedBytes(AttentionKind kind, DeviceKind device, int64_t d_head) {
  if (device == DeviceKind::kCpu) return 0;
  const AttentionVariant& variant = VariantOf(kind);
  for (std::size_t i = 0; i < variant.cuda_d_heads.size(); ++i) {
    if (variant.cuda_d_heads[i] == d_head) return variant.cuda_shared_bytes[i];
  }
  return 0;
}

}  // namespace

const AttentionVariant& VariantOf(AttentionKind kind) {
  return kVariants[static_cast<std::size_t>(kind)];
}

absl::string_view AttentionOpPrefix(AttentionKind kind, DeviceKind device) {
  const AttentionVariant& variant = VariantOf(kind);
  return device == DeviceKind::kCpu ? variant.cpu_op : variant.cuda_op;
}

std::string AttentionUnavailable(AttentionKind kind, DeviceKind device,
                                 bool bf16, int64_t d_head,
                                 int64_t shared_bytes) {
  const auto fits = [&](AttentionKind any) {
    return shared_bytes == 0 ||
           SharedBytes(any, device, d_head) <= shared_bytes;
  };
  const auto runs = [&](AttentionKind any) {
    return HasKernel(any, device) && TakesType(any, device, bf16) &&
           TakesHead(any, device, d_head) && fits(any);
  };
  if (runs(kind)) return "";
  std::vector<absl::string_view> names;
  for (const AttentionKind other : kAttentionKinds) {
    if (runs(other)) names.push_back(AttentionName(other));
  }
  const std::string others = absl::StrJoin(names, ", ");
  const absl::string_view name = AttentionName(kind);
  if (!HasKernel(kind, device)) {
    return device == DeviceKind::kCpu
               ? absl::StrCat(name,
                              " attention needs an NVIDIA GPU; on a CPU use ",
                              others)
               : absl::StrCat(name, " attention needs a CPU; on a GPU use ",
                              others);
  }
  if (!TakesType(kind, device, bf16)) {
    return absl::StrCat("on a GPU ", name,
                        " attention supports only bf16 and fp16; for fp32 use ",
                        others);
  }
  if (!fits(kind)) {
    return absl::StrCat(
        name, " attention needs ", SharedBytes(kind, device, d_head),
        " bytes of shared memory per block for heads of dimension ", d_head,
        "; this GPU allows ", shared_bytes, "; use ", others);
  }
  return absl::StrCat("on a GPU ", name,
                      " attention supports heads of dimension ",
                      absl::StrJoin(VariantOf(kind).cuda_d_heads, ", "),
                      "; for dimension ", d_head, " use ", others);
}

}  // namespace trainbench
