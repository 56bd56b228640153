// SPDX-License-Identifier: MIT

#include "tools/planner/json.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view text) { return std::string(text); }

// A whole number without ".0" where a double holds every one of them.
Json Count(double value) {
  if (value < 0x1p53) return static_cast<int64_t>(value);
  return value;
}

Json QueryJson(const PlanQuery& query) {
  Json models = Json::array(), precisions = Json::array(),
       modes = Json::array();
  for (const ModelConfig& model : query.models) models.push_back(model.name);
  for (Precision precision : query.precisions) {
    precisions.push_back(Text(PrecisionName(precision)));
  }
  for (StepMode mode : query.modes) modes.push_back(Text(StepModeName(mode)));
  return {{"batch", query.batch},
          {"seq", query.seq},
          {"device_memory_bytes", query.device_memory_bytes},
          {"models", models},
          {"precisions", precisions},
          {"modes", modes}};
}

Json ModelJson(const ModelConfig& model) {
  return {{"model", model.name},
          {"d_model", model.d_model},
          {"d_ff", model.d_ff},
          {"layers", model.layers},
          {"heads", model.heads},
          {"vocab", model.vocab},
          {"attention", Text(AttentionName(model.attention))}};
}

Json MomentsJson(const std::vector<MemoryMoment>& moments) {
  Json list = Json::array();
  for (const MemoryMoment& moment : moments) {
    list.push_back({{"name", moment.name}, {"bytes", moment.bytes}});
  }
  return list;
}

Json RowJson(const PlanRow& row) {
  const MemoryEstimate& memory = row.memory;
  Json json = ModelJson(row.model);
  json.update({{"precision", Text(PrecisionName(row.precision))},
               {"mode", Text(StepModeName(row.mode))},
               {"params", row.params},
               {"parameter_bytes", memory.parameter_bytes},
               {"gradient_bytes", memory.gradient_bytes},
               {"optimizer_bytes", memory.optimizer_bytes},
               {"input_bytes", memory.input_bytes},
               {"saved_bytes", memory.saved_bytes},
               {"saved_bytes_per_block", row.saved_bytes_per_block},
               {"predicted_peak_bytes", memory.peak.bytes},
               {"predicted_peak_moment", memory.peak.name},
               {"fits", row.fits},
               {"largest_seq", row.largest_seq},
               {"flops", Count(row.flops)},
               {"bytes", Count(row.bytes)},
               {"moments", MomentsJson(memory.moments)}});
  return json;
}

}  // namespace

std::string PlanJson(const PlanQuery& query, const std::vector<PlanRow>& rows) {
  Json list = Json::array();
  for (const PlanRow& row : rows) list.push_back(RowJson(row));
  const Json json = {{"query", QueryJson(query)}, {"rows", list}};
  return json.dump(2) + "\n";
}

}  // namespace trainbench
