// SPDX-License-Identifier: MIT

#include <cmath>
#include <nlohmann/json.hpp>

#include "fixtures/memory/allocation_recorder.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"
#include "tools/planner/plan.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

// Makes a whole number below 2^53 an integer, which prints without ".0".
Json WholeNumber(double value) {
  if (value == std::floor(value) && value < 0x1p53) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json QueryJson(const ModelQuery& query) {
  Json models = Json::array(), precisions = Json::array(),
       modes = Json::array();
  for (const ModelConfig& model : query.models) models.push_back(model.name);
  for (Precision precision : query.precisions) {
    precisions.push_back(PrecisionName(precision));
  }
  for (StepMode mode : query.modes) modes.push_back(StepModeName(mode));
  Json json = {{"batch", query.batch},
               {"seq", query.seq},
               {"tensor_ranks", query.tensor_ranks},
               {"device_memory_bytes", query.device_memory_bytes},
               {"models", models},
               {"precisions", precisions},
               {"modes", modes}};
  for (const Checkpointing& checkpointing : query.checkpointing) {
    json["checkpoints"].push_back(CheckpointingName(checkpointing));
  }
  return json;
}

void AddComponents(const ModelRow& row, Json& json) {
  const auto& [model, precision, mode, batch, seq] = row.step;
  Json parameters = Json::object(), saved = Json::object(),
       flops = Json::object();
  for (const ComponentParameters& part : ParametersByComponent(model)) {
    parameters[ComponentName(part.component)] = part.elements;
  }
  for (const auto& [component, bytes] : row.saved) {
    saved[ComponentName(component)] = {{"bytes", bytes}};
  }
  for (const auto& [component, count] :
       FlopsByComponent(model, batch, seq, mode)) {
    flops[ComponentName(component)] = WholeNumber(count);
  }
  Json tensors = Json::array();
  for (const RecordedBlock& block : row.block_tensors) {
    tensors.push_back({{"operator", block.op},
                       {"component", ComponentName(ComponentOf(block))},
                       {"shape", block.shape},
                       {"dtype", block.dtype},
                       {"bytes", block.bytes}});
  }
  json["params_by_component"] = parameters;
  json["saved_by_component"] = saved;
  json["saved_tensors_per_block"] = tensors;
  json["flops_by_component"] = flops;
  json["adamw_flops"] =
      WholeNumber(mode == StepMode::kTrainStep ? AdamWFlops(model) : 0);
}

absl::string_view ComponentText(const std::optional<Component>& component) {
  return component ? ComponentName(*component) : "none";
}

Json RowJson(const ModelRow& row, const ModelQuery& query) {
  const auto& [model, precision, mode, batch, seq] = row.step;
  const StepPrediction& totals = row.totals;
  Json moments = Json::array();
  for (const HighestPoint& point : row.highest) {
    moments.push_back({{"phase", PhaseName(point.phase)},
                       {"name", point.name},
                       {"bytes", point.bytes}});
  }
  Json json = {{"model", model.name},
               {"d_model", model.d_model},
               {"d_ff", model.d_ff},
               {"layers", model.layers},
               {"heads", model.heads},
               {"kv_heads", model.key_value_heads()},
               {"vocab", model.vocab},
               {"tied_embeddings", model.tied_embeddings},
               {"attention", AttentionName(model.attention)},
               {"implementation", ImplementationName(model.implementation)},
               {"checkpoint", CheckpointingName(model.checkpointing)},
               {"precision", PrecisionName(precision)},
               {"mode", StepModeName(mode)},
               {"params", ParameterCount(model)},
               {"parameter_bytes", totals.parameter_bytes},
               {"gradient_bytes", totals.gradient_bytes},
               {"optimizer_bytes", totals.optimizer_bytes},
               {"input_bytes", totals.input_bytes},
               {"saved_bytes", totals.saved_bytes},
               {"saved_bytes_per_block", row.block_bytes},
               {"residual_bytes", totals.residual_bytes},
               {"logit_bytes", totals.logit_bytes},
               {"largest_tensor",
                {{"name", row.largest.name},
                 {"component", ComponentName(row.largest.component)},
                 {"bytes", row.largest.bytes}}},
               {"predicted_peak_bytes", totals.peak_bytes()},
               {"predicted_peak_moment", row.peak_at},
               {"fits", totals.peak_bytes() <= query.device_memory_bytes},
               {"largest_seq", row.largest_seq},
               {"largest_batch", row.largest_batch},
               {"flops", WholeNumber(StepFlops(model, batch, seq, mode))},
               {"recomputed_flops",
                WholeNumber(RecomputedFlops(model, batch, seq, mode))},
               {"bytes", WholeNumber(StepBytes(row.step, totals.saved_bytes))},
               {"moments", moments}};
  AddComponents(row, json);
  if (!query.wants_operators) return json;
  for (const auto& [calls, count] : totals.call.operators) {
    json["operators"].push_back({{"operator", calls.name},
                                 {"phase", PhaseText(calls.phase)},
                                 {"component", ComponentText(calls.component)},
                                 {"calls", count},
                                 {"flops", WholeNumber(calls.flops)},
                                 {"bytes", WholeNumber(calls.bytes)}});
  }
  return json;
}

}  // namespace

std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows) {
  Json list = Json::array();
  for (const ModelRow& row : rows) list.push_back(RowJson(row, query));
  return Json({{"query", QueryJson(query)}, {"rows", list}}).dump() + "\n";
}

}  // namespace trainbench
