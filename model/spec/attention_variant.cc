// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

constexpr auto kVariants = std::to_array<AttentionVariant>({
#define ATTENTION(Name, text, memory, ...) \
  {.kind = AttentionKind::k##Name, .name = text, __VA_ARGS__},
#include "model/spec/attention_variants.inc"
#undef ATTENTION
});

bool Runs(AttentionKind kind, DeviceKind device, bool bf16) {
  if (AttentionOpPrefix(kind, device).empty()) return false;
  return device == DeviceKind::kCpu || bf16 || VariantOf(kind).fp32_on_cuda;
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
                                 bool bf16) {
  if (Runs(kind, device, bf16)) return "";
  const bool cpu = device == DeviceKind::kCpu;
  const std::string others = AttentionNames(
      [&](AttentionKind other) { return Runs(other, device, bf16); });
  const absl::string_view name = AttentionName(kind);
  if (AttentionOpPrefix(kind, device).empty()) {
    return absl::StrCat(name, " attention needs ",
                        cpu ? "an NVIDIA GPU; this device is a CPU, which has "
                            : "a CPU; this device is a GPU, which has ",
                        others);
  }
  return absl::StrCat("on a GPU ", name,
                      " attention computes in bf16 or fp16 only; fp32 is taken "
                      "by ",
                      others);
}

}  // namespace trainbench
