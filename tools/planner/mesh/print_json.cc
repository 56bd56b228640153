// SPDX-License-Identifier: MIT

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/accounting/parameters.h"
#include "tools/planner/mesh/rows.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

Json LinkJson(const Link& link) {
  return {{"name", link.name},
          {"gb_per_s", 1e-3 / link.call.us_per_byte},
          {"us", link.call.alpha_us}};
}

Json QueryJson(const MeshQuery& query) {
  const MeshJob& job = query.job;
  const MeshMachine& machine = query.machine;
  return {{"model", job.model.name},
          {"parameters", ParameterCount(job.model)},
          {"implementation", ImplementationName(job.model.implementation)},
          {"attention", AttentionName(job.model.attention)},
          {"checkpoint",
           absl::StrJoin(query.checkpointing, ",",
                         [](std::string* out, const Checkpointing& one) {
                           absl::StrAppend(out, CheckpointingName(one));
                         })},
          {"precision", PrecisionName(job.precision)},
          {"batch", query.global_batch > 0 ? Json() : Json(job.batch)},
          {"global_batch",
           query.global_batch > 0 ? Json(query.global_batch) : Json()},
          {"seq", job.seq},
          {"reshard", job.sharding.reshard_after_forward},
          {"prefetch", job.sharding.prefetch},
          {"rank", job.last_rank ? "last" : "first"},
          {"links", {LinkJson(machine.inside), LinkJson(machine.between)}},
          {"spare_bytes", query.spare_bytes},
          {"node_ranks", machine.node_ranks},
          {"device_tflops", machine.flops_per_second / 1e12},
          {"memory_gb_per_s", machine.bytes_per_second / 1e9}};
}

Json MeshJson(const MeshShape& mesh) {
  return {{"name", MeshName(mesh)},
          {"data", mesh.data},
          {"fsdp", mesh.fsdp},
          {"tensor", mesh.tensor},
          {"ranks", mesh.ranks()}};
}

Json CollectivesJson(const MeshTraffic& all, const MeshShape& mesh) {
  Json json = Json::array();
  for (const auto& [axis, traffic] : all) {
    for (const CollectiveKind kind : kCollectiveKinds) {
      const CollectiveCalls& calls = traffic.Of(kind);
      if (calls.calls == 0) continue;
      json.push_back(
          {{"group", MeshAxisName(axis)},
           {"collective", CollectiveName(kind)},
           {"calls", calls.calls},
           {"bytes", calls.bytes},
           {"sent_bytes", SentBytes(kind, calls.bytes, mesh.Size(axis))}});
    }
  }
  return json;
}

Json PredictedJson(const MeshRow& row) {
  const RankMemory& memory = *row.memory;
  const MeshFlops flops = FlopsOf(row.job);
  return {
      {"peak_bytes", memory.step_peak_bytes},
      {"peak_at", memory.peak_at},
      {"resident_bytes", memory.resident_bytes},
      {"build_peak_bytes", memory.build_peak_bytes},
      {"reserved_bytes", memory.reserved_bytes()},
      {"needed_bytes", memory.needed_bytes()},
      {"largest_batch", row.largest_batch},
      {"part_parameters", ParameterCount(PartStep(row.job).model)},
      {"shard_elements", ShardElements(row.job)},
      {"forward_flops", flops.forward},
      {"backward_flops", flops.backward},
      {"recomputed_flops", flops.recomputed},
      {"collectives", CollectivesJson(TrafficOf(row.job).step, row.job.mesh)}};
}

Json PassJson(const PassTime& pass) {
  return {{"compute_us", pass.compute_us},
          {"tensor_us", pass.tensor_us},
          {"fsdp_us", pass.fsdp_us},
          {"data_us", pass.data_us}};
}

Json ComputedJson(const MeshRow& row, const MeshMachine& machine) {
  const MeshTime& time = row.time;
  const MeshFlops flops = FlopsOf(row.job);
  const double seconds = time.step_us() / 1e6;
  Json parts;
  for (const MeshBound part : kMeshBounds) {
    parts[MeshBoundName(part)] = time.Us(part);
  }
  const std::optional<int64_t>& batch = row.compute_bound_batch;
  return {{"step_us", time.step_us()},
          {"tokens_per_second", TokensPerSecond(row)},
          {"model_flops_share", (flops.forward + flops.backward) / seconds /
                                    machine.flops_per_second},
          {"bound", MeshBoundName(time.bound())},
          {"is_compute_bound", time.is_compute_bound()},
          {"parts_us", parts},
          {"forward", PassJson(time.forward)},
          {"backward", PassJson(time.backward)},
          {"update_us", time.update_us},
          {"compute_bound_batch", batch ? Json(*batch) : Json()}};
}

Json RehearsedJson(const MeshRehearsal& found, const MeshShape& mesh) {
  if (found.out_of_memory) {
    return {{"out_of_memory",
             {{"phase", found.ended_in},
              {"operator", found.out_of_memory->op},
              {"requested_bytes", found.out_of_memory->requested_bytes},
              {"allocated_bytes", found.out_of_memory->allocated_bytes},
              {"reserved_bytes", found.out_of_memory->reserved_bytes}}}};
  }
  Json kernels;
  for (const auto& [phase, launches] : found.kernels) kernels[phase] = launches;
  Json moved;
  for (const char* name : {"launches", "copies_h2d", "copies_d2h", "copies_d2d",
                           "copy_bytes_d2d", "fills", "fill_bytes", "waits"}) {
    moved[name] = found.counters.at(name);
  }
  return {{"peak_bytes", found.step_peak_bytes},
          {"build_peak_bytes", found.build_peak_bytes},
          {"resident_bytes", found.resident_bytes},
          {"library_bytes", found.library_bytes},
          {"reserved_bytes", found.reserved_bytes},
          {"shard_elements", found.shard_elements},
          {"kernels", kernels},
          {"counters", moved},
          {"collectives", CollectivesJson(found.collectives, mesh)}};
}

Json RowJson(const MeshRow& row, const MeshMachine& machine) {
  Json json = {{"mesh", MeshJson(row.job.mesh)},
               {"batch", nullptr},
               {"checkpoint", nullptr},
               {"fits", row.why_not.empty()},
               {"why_not", row.why_not},
               {"predicted", nullptr},
               {"computed", nullptr},
               {"rehearsed", nullptr}};
  if (!row.is_valid) return json;
  json["batch"] = row.job.batch;
  json["checkpoint"] = CheckpointingName(row.job.model.checkpointing);
  if (!row.memory) return json;
  json["predicted"] = PredictedJson(row);
  json["computed"] = ComputedJson(row, machine);
  if (row.rehearsal) {
    json["rehearsed"] = RehearsedJson(*row.rehearsal, row.job.mesh);
  }
  return json;
}

}  // namespace

std::string MeshDocument(const MeshQuery& query, const Device& device,
                         int64_t free_bytes, const std::vector<MeshRow>& rows) {
  Json all = Json::array();
  for (const MeshRow& row : rows) all.push_back(RowJson(row, query.machine));
  const Json document = {
      {"query", QueryJson(query)},
      {"device", device.name},
      {"free_bytes", free_bytes},
      {"overlap", query.job.sharding.prefetch ? kOverlapModel : kSerialModel},
      {"rows", all}};
  return document.dump(1) + "\n";
}

}  // namespace trainbench
