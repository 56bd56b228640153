// SPDX-License-Identifier: MIT

#include "model/spec/component.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace trainbench {

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

bool IsMatrixProduct(absl::string_view op) {
  return op == "aten::mm" || op == "aten::addmm" || op == "aten::bmm" ||
         op == "aten::baddbmm";
}

}  // namespace trainbench
