// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_mesh.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "model/accounting/sharded_job.h"
#include "tools/planner/parallel_units.h"

namespace trainbench {
namespace {

constexpr char kTooManyTensorRanks[] = "no batch does: Y >= Y0";
constexpr char kTooManyTokens[] = "no N does: A n / 2 >= M";
constexpr char kTokensFormula[] = "B > b X C / (2 W M_X)";

void AddBatchRows(const std::string& name, const std::string& what,
                  const std::string& formula, const ShardedJob& job,
                  bool overlap, ParallelGroup& group) {
  const std::optional<double> tokens = ComputeBoundTokens(job, overlap);
  std::optional<double> per_device;
  if (tokens) per_device = *tokens / (job.fsdp * job.tensor);
  group.rows.push_back({name + "_tokens", what, formula, tokens,
                        ParallelUnit::kTokens, kTooManyTensorRanks});
  group.rows.push_back({name + "_tokens_per_device", "  per device",
                        "B / (X Y)", per_device, ParallelUnit::kTokens,
                        kTooManyTensorRanks});
}

std::string MemoryConstants(const ParallelQuery& query) {
  const ShardedJob& job = query.job;
  return absl::StrCat(
      "D = ", HumanCount(job.d_model), ", F = ", HumanCount(job.d_ff),
      ", L = ", HumanCount(job.blocks), " blocks, b = ", job.value_bytes,
      ", n = ", HumanCount(query.saved_tokens),
      " tokens, M = ", BytesInBothUnits(query.fsdp_device_bytes), " a device");
}

std::string BatchConstants(const ShardedJob& job) {
  return absl::StrCat(
      "X = ", HumanCount(job.fsdp), " FSDP ranks on M_X = ", job.fsdp_axes,
      " axes, Y = ", HumanCount(job.tensor),
      " tensor ranks on M_Y = ", job.tensor_axes, ", ", MachineText(job));
}

ParallelRow GpuRow(const ParallelQuery& query, const char* name,
                   const char* unit, double unit_bytes) {
  const std::string gpu = HumanCount(query.gpu_gb);
  return {name, absl::StrCat("  GPUs of ", gpu, " GB, if GB is ", unit),
          absl::StrCat("G / (", gpu, " ", unit, "), rounded up"),
          DevicesToHold(StateBytes(query.job), query.gpu_gb * unit_bytes),
          ParallelUnit::kDevices};
}

void AddFsdpRows(const ParallelQuery& query, ParallelGroup& group) {
  const double n = query.saved_tokens, device = query.fsdp_device_bytes;
  const std::optional<double> fewest = FewestFsdpDevices(query.job, n, device);
  std::optional<double> bytes;
  if (fewest) bytes = FsdpDeviceBytes(query.job, n, *fewest);
  group.rows.push_back({"fsdp_state_devices", "FSDP of the state alone",
                        "N > G / M", FewestFsdpDevices(query.job, 0, device),
                        ParallelUnit::kDevices});
  group.rows.push_back({"fsdp_devices", "FSDP of it and half the activations",
                        "N > (G + A n / 2) / (M - A n / 2)", fewest,
                        ParallelUnit::kDevices, kTooManyTokens});
  group.rows.push_back({"fsdp_device_bytes", "  memory of each",
                        "(G + A n / 2) / N + A n / 2", bytes,
                        ParallelUnit::kBytes, kTooManyTokens});
}

}  // namespace

ParallelGroup MemoryGroup(const ParallelQuery& query) {
  const ShardedJob& job = query.job;
  ParallelGroup group = {
      "memory",
      "Memory of a stack of blocks of two matrices",
      MemoryConstants(query),
      {{"params", "parameters", "P = 2 D F L", ShardedJobParams(job),
        ParallelUnit::kParams},
       {"state_bytes", "weights, gradients, optimizer",
        absl::StrCat("G = ", job.state_bytes_per_param, " P"), StateBytes(job),
        ParallelUnit::kBytes},
       GpuRow(query, "decimal_gpus", "10^9", 1e9),
       GpuRow(query, "binary_gpus", "2^30", 0x1p30),
       {"saved_bytes_per_token", "activations saved per token",
        "A = b (D + F) L", SavedBytesPerToken(job), ParallelUnit::kBytes}}};
  AddFsdpRows(query, group);
  return group;
}

ParallelGroup BatchGroup(const ParallelQuery& query) {
  const ShardedJob& job = query.job;
  ParallelGroup group = {
      "batch",
      "Batch from which their forward pass is compute-bound",
      BatchConstants(job),
      {{"tensor_bound_devices", "tensor ranks", "Y < Y0 = 2 F W M_Y / (b C)",
        LargestTensorSplit(job), ParallelUnit::kDevices}}};
  AddBatchRows("overlapped", "collectives at the same time", kTokensFormula,
               job, /*overlap=*/true, group);
  AddBatchRows("serial", "collectives one by one",
               absl::StrCat(kTokensFormula, " / (1 - Y / Y0)"), job,
               /*overlap=*/false, group);
  for (const BatchReduction& way : BatchReductions(job)) {
    group.rows.push_back({absl::StrCat(way.name, "_tokens"),
                          absl::StrCat("lower: ", way.what), kTokensFormula,
                          ComputeBoundTokens(way.job, /*overlap=*/true),
                          ParallelUnit::kTokens, kTooManyTensorRanks});
  }
  return group;
}

}  // namespace trainbench
