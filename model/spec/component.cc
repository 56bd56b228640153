// SPDX-License-Identifier: MIT

#include "model/spec/component.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/spec/not_allowed.h"

namespace trainbench {

namespace {

constexpr std::array<const char*, kComponentCount> kNames = {
    "embedding",
    "projections",
    "rope",
    "scores",
    "softmax",
    "value",
    "fused_attention",
    "output_projection",
    "ffn",
    "norm",
    "residual",
    "lm_head",
    "cross_entropy",
    "optimizer"};

}  // namespace

absl::string_view ComponentName(Component component) {
  return kNames[static_cast<std::size_t>(component)];
}

absl::StatusOr<Component> ParseComponent(absl::string_view name) {
  return ParseName("component", name, kComponents, ComponentName);
}

std::string LayerScopeName(std::size_t layer) {
  return absl::StrCat("layer_", layer);
}

std::optional<int64_t> ParseLayerScope(absl::string_view scope) {
  int64_t layer = 0;
  if (!absl::ConsumePrefix(&scope, "layer_") ||
      !absl::SimpleAtoi(scope, &layer) || layer < 0) {
    return std::nullopt;
  }
  return layer;
}

}  // namespace trainbench
