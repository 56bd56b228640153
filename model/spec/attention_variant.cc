// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
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

// Returns the place of the kernel's tiles for these heads, if it has any.
std::optional<std::size_t> PlaceOfTiles(const AttentionVariant& variant,
                                        int64_t d_head) {
  const auto& tiles = variant.cuda_d_heads;
  const auto found = std::lower_bound(tiles.begin(), tiles.end(), d_head);
  const bool is_held =
      found != tiles.end() &&
      (*found == d_head || (found == tiles.end() - 1 && d_head % 8 == 0));
  if (!is_held) return std::nullopt;
  return static_cast<std::size_t>(found - tiles.begin());
}

// Returns why the variant cannot run, up to what to use instead; empty if it
// can.
std::string WhyNot(AttentionKind kind, DeviceKind device, bool bf16,
                   int64_t d_head, int64_t shared_bytes, int capability) {
  const AttentionVariant& variant = VariantOf(kind);
  const absl::string_view name = AttentionName(kind);
  if (device == DeviceKind::kCpu) {
    return variant.on_cpu ? ""
                          : absl::StrCat(name,
                                         " attention needs an NVIDIA GPU; on a "
                                         "CPU");
  }
  if (!bf16 && !variant.fp32_on_cuda) {
    return absl::StrCat("on a GPU ", name,
                        " attention supports only bf16 and fp16; for fp32");
  }
  const int64_t most =
      std::max(variant.cuda_most_d_head,
               capability == 90 ? variant.sm90_most_d_head : 0);
  if (most > 0 && d_head > most) {
    return absl::StrCat("on a GPU ", name,
                        " attention supports heads of dimension ", most,
                        " at most; for dimension ", d_head);
  }
  if (const int64_t step = variant.cuda_head_bytes / (bf16 ? 2 : 4);
      step > 0 && d_head % step != 0) {
    return absl::StrCat("on a GPU ", name,
                        " attention supports heads of dimensions that are "
                        "multiples of ",
                        step, "; for dimension ", d_head);
  }
  const auto& known = variant.cuda_d_heads;
  if (known[0] == 0) return "";
  const auto place = PlaceOfTiles(variant, d_head);
  if (!place) {
    return absl::StrCat("on a GPU ", name,
                        " attention supports heads of dimension ",
                        absl::StrJoin(known.begin(), known.end() - 1, ", "),
                        ", above it multiples of 8 up to ", known.back(),
                        "; for dimension ", d_head);
  }
  const int64_t needed = variant.cuda_shared_bytes[*place];
  if (shared_bytes == 0 || needed <= shared_bytes) return "";
  return absl::StrCat(name, " attention needs ", needed,
                      " bytes of shared memory per block for heads of "
                      "dimension ",
                      d_head, "; this GPU allows ", shared_bytes, ";");
}

}  // namespace

const AttentionVariant& VariantOf(AttentionKind kind) {
  return kVariants[static_cast<std::size_t>(kind)];
}

std::string AttentionUnavailable(AttentionKind kind, DeviceKind device,
                                 bool bf16, int64_t d_head,
                                 int64_t shared_bytes, int capability) {
  const auto why_not = [&](AttentionKind any) {
    return WhyNot(any, device, bf16, d_head, shared_bytes, capability);
  };
  const std::string why = why_not(kind);
  if (why.empty()) return "";
  std::vector<absl::string_view> others;
  for (const AttentionKind other : kAttentionKinds) {
    if (why_not(other).empty()) others.push_back(AttentionName(other));
  }
  return absl::StrCat(why, " use ", absl::StrJoin(others, ", "));
}

}  // namespace trainbench
