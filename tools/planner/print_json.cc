// SPDX-License-Identifier: MIT

#include "fixtures/memory/allocation_recorder.h"
#include "tools/planner/json.h"
#include "tools/planner/plan.h"

namespace trainbench {
namespace {

Json QueryJson(const ModelQuery& query) {
  Json models = Json::array(), precisions = Json::array(),
       modes = Json::array();
  for (const ModelConfig& model : query.models) models.push_back(model.name);
  for (Precision precision : query.precisions) {
    precisions.push_back(Text(PrecisionName(precision)));
  }
  for (StepMode mode : query.modes) {
    modes.push_back(Text(StepModeName(mode)));
  }
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
  Json parameters = Json::object(), saved = Json::object(),
       flops = Json::object();
  for (const ComponentParameters& part : row.parameters) {
    parameters[Text(ComponentName(part.component))] = part.elements;
  }
  for (const auto& [component, bytes] : row.memory.saved) {
    saved[Text(ComponentName(component))] = {{"bytes", bytes}};
  }
  for (const auto& [component, count] : row.component_flops) {
    flops[Text(ComponentName(component))] = WholeNumber(count);
  }
  Json tensors = Json::array();
  for (const RecordedBlock& block : row.memory.block_tensors) {
    tensors.push_back({{"operator", block.op},
                       {"component", Text(ComponentName(ComponentOf(block)))},
                       {"shape", block.shape},
                       {"dtype", block.dtype},
                       {"bytes", block.bytes}});
  }
  json["params_by_component"] = parameters;
  json["saved_by_component"] = saved;
  json["saved_tensors_per_block"] = tensors;
  json["flops_by_component"] = flops;
  json["adamw_flops"] = WholeNumber(row.adamw_flops);
}

std::string ComponentText(const std::optional<Component>& component) {
  return component ? Text(ComponentName(*component)) : "none";
}

Json RowJson(const ModelRow& row) {
  const ModelConfig& model = row.step.model;
  const StepMemory& memory = row.memory;
  Json moments = Json::array();
  for (const HighestPoint& point : memory.highest) {
    moments.push_back({{"phase", Text(PhaseName(point.phase))},
                       {"name", point.name},
                       {"bytes", point.bytes}});
  }
  const LargeTensor& largest = memory.largest;
  Json json = {
      {"model", model.name},
      {"d_model", model.d_model},
      {"d_ff", model.d_ff},
      {"layers", model.layers},
      {"heads", model.heads},
      {"kv_heads", model.key_value_heads()},
      {"vocab", model.vocab},
      {"tied_embeddings", model.tied_embeddings},
      {"attention", Text(AttentionName(model.attention))},
      {"implementation", Text(ImplementationName(model.implementation))},
      {"checkpoint", CheckpointingName(model.checkpointing)},
      {"precision", Text(PrecisionName(row.step.precision))},
      {"mode", Text(StepModeName(row.step.mode))},
      {"params", row.params},
      {"parameter_bytes", memory.parameter_bytes},
      {"gradient_bytes", memory.gradient_bytes},
      {"optimizer_bytes", memory.optimizer_bytes},
      {"input_bytes", memory.input_bytes},
      {"saved_bytes", memory.saved_bytes},
      {"saved_bytes_per_block", memory.block_bytes},
      {"residual_bytes", memory.residual_bytes},
      {"logit_bytes", memory.logit_bytes},
      {"largest_tensor",
       {{"name", largest.name},
        {"component", Text(ComponentName(largest.component))},
        {"bytes", largest.bytes}}},
      {"predicted_peak_bytes", memory.peak_bytes},
      {"predicted_peak_moment", memory.peak_at},
      {"fits", row.fits},
      {"largest_seq", row.largest_seq},
      {"largest_batch", row.largest_batch},
      {"flops", WholeNumber(row.flops)},
      {"recomputed_flops", WholeNumber(row.recomputed_flops)},
      {"bytes", WholeNumber(row.bytes)},
      {"moments", moments}};
  AddComponents(row, json);
  for (const auto& [calls, count] : row.operators) {
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
  for (const ModelRow& row : rows) list.push_back(RowJson(row));
  return Json({{"query", QueryJson(query)}, {"rows", list}}).dump() + "\n";
}

}  // namespace trainbench
