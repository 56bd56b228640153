// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainbench {
namespace {

constexpr auto kVariants = std::to_array<AttentionVariant>({
#define ATTENTION(Name, text, ...) \
  {.kind = AttentionKind::k##Name, .name = text, __VA_ARGS__},
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

const std::vector<AttentionKind>& AttentionKinds() {
  static const auto* const kKinds = [] {
    auto* const kinds = new std::vector<AttentionKind>;
    for (const auto& variant : kVariants) kinds->push_back(variant.kind);
    return kinds;
  }();
  return *kKinds;
}

absl::string_view AttentionName(AttentionKind kind) {
  return VariantOf(kind).name;
}

std::string AttentionNames(const std::function<bool(AttentionKind)>& is_meant) {
  std::string names;
  for (const AttentionKind kind : AttentionKinds()) {
    if (!is_meant(kind)) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", AttentionName(kind));
  }
  return names;
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
  const std::string others = AttentionNames(runs);
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
