// SPDX-License-Identifier: MIT

#include "absl/strings/str_cat.h"
#include "fixtures/reporters/human_units.h"
#include "model/accounting/parallel/communication.h"
#include "model/accounting/parallel/parallel_bounds.h"
#include "model/accounting/parallel/sharded_job.h"
#include "model/accounting/parameters.h"
#include "model/spec/parallel/optimizer_sharding.h"
#include "tools/planner/plan.h"

namespace trainbench {
namespace {

constexpr char kTooManyTensorRanks[] = "no batch does: Y >= Y0";
constexpr char kTooManyTokens[] = "no N does: A n / 2 >= M";
constexpr char kTokensFormula[] = "B > b X C / (2 W M_X)";

// "180 GB/s", of 10^9 bytes.
std::string Bandwidth(double bytes_per_second) {
  return absl::StrCat(HumanCount(bytes_per_second / 1e9), " GB/s");
}

// "b = 2, C = 460 TFLOP/s, W = 180 GB/s".
std::string MachineConstants(const ShardedJob& job) {
  return absl::StrCat("b = ", job.value_bytes,
                      ", C = ", HumanCount(job.flops_per_second / 1e12),
                      " TFLOP/s, W = ", Bandwidth(job.link_bytes_per_second));
}

// Bytes and time of each ring all-reduce.
ParallelGroup AllReduceGroup(const ParallelQuery& query) {
  const double bandwidth = query.job.link_bytes_per_second;
  const double ring = RingAllReduceBytes(query.gradient_bytes, query.ranks);
  const double alternate =
      AlternateRingAllReduceBytes(query.gradient_bytes, query.ranks);
  return {
      "all_reduce",
      "All-reduce on a ring of links",
      absl::StrCat("S = ", HumanBytesInBothUnits(query.gradient_bytes),
                   ", N = ", query.ranks, " ranks, W = ", Bandwidth(bandwidth)),
      {{"ring_bytes", "reduce-scatter and all-gather, sent per rank",
        "2 (N - 1) / N S", ring, Unit::kBytes},
       {"ring_seconds", "  time", "2 (N - 1) / N S / W", ring / bandwidth,
        Unit::kSeconds},
       {"alternate_ring_bytes", "whole buffers round the ring, per rank",
        "(N - 1) S", alternate, Unit::kBytes},
       {"alternate_ring_seconds", "  time", "(N - 1) S / W",
        alternate / bandwidth, Unit::kSeconds},
       {"bus_bandwidth_factor", "busbw over algbw", "2 (N - 1) / N",
        BusBandwidthFactor(query.ranks)}}};
}

// Bytes that a rank sends in one step, by the sharding of the optimizer state.
ParallelGroup OptimizerGroup(const ParallelQuery& query) {
  const auto bytes = [&](OptimizerSharding sharding) {
    return OptimizerTrafficBytes(sharding, query.gradient_bytes, query.ranks);
  };
  return {"optimizer",
          "Sent per rank and step, by where the optimizer's state is",
          absl::StrCat("Psi = ", HumanBytesInBothUnits(query.gradient_bytes),
                       " of gradients, as many of parameters, N = ",
                       query.ranks, " ranks"),
          {{"replicated_bytes", "replicated: all-reduce", "2 Psi (N - 1) / N",
            bytes(OptimizerSharding::kReplicated), Unit::kBytes},
           {"sharded_bytes", "sharded (ZeRO-1): reduce-scatter, all-gather",
            "(1 + 1) Psi (N - 1) / N", bytes(OptimizerSharding::kSharded),
            Unit::kBytes},
           {"broadcast_bytes", "sharded: all-reduce, broadcasts",
            "(2 + 1) Psi (N - 1) / N", bytes(OptimizerSharding::kBroadcast),
            Unit::kBytes}}};
}

// The best bucket size on one link.
ParallelGroup BucketGroup(const ParallelQuery& query, const Link& link) {
  // Cannot fail: the query has only positive values.
  const BucketPlan plan = *OptimalBuckets(query.gradient_bytes, link.call);
  return {absl::StrCat("buckets/", link.name),
          absl::StrCat("Buckets sent during the backward pass on ", link.name),
          absl::StrCat("s = ", HumanBytesInBothUnits(query.gradient_bytes),
                       ", w = ", Bandwidth(1e6 / link.call.us_per_byte),
                       ", o = ", HumanCount(link.call.alpha_us), " us a call"),
          {{"bucket_bytes", "best bucket", "sqrt(s w o), at most s",
            plan.bucket_bytes, Unit::kBytes},
           {"buckets", "number of buckets", "sqrt(s / (w o)), at least 1",
            plan.buckets},
           {"overhead_seconds", "the step takes longer by", "s / (w n) + n o",
            plan.overhead_us / 1e6, Unit::kSeconds},
           {"one_bucket_overhead_seconds", "and with one bucket", "s / w + o",
            BucketOverheadUs(query.gradient_bytes, 1, link.call) / 1e6,
            Unit::kSeconds}}};
}

// The largest 2D mesh: its limit for fast links, then the exact value.
void AddMeshRows(const LayerJob& layer, bool overlap, const std::string& name,
                 const std::string& what, const std::string& limit_formula,
                 const std::string& formula, ParallelGroup& group) {
  const Mesh mesh = LargestMesh(layer, overlap);
  group.rows.push_back({name + "_limit_devices", what, limit_formula,
                        LargestMeshLimit(layer, overlap), Unit::kDevices});
  group.rows.push_back({name + "_devices",
                        absl::StrCat("  exactly: X = ", HumanCount(mesh.fsdp),
                                     ", Y = ", HumanCount(mesh.tensor)),
                        formula, mesh.devices(), Unit::kDevices});
}

// The most devices on which a layer is compute-bound, by kind of parallelism.
ParallelGroup BoundsGroup(const ParallelQuery& query) {
  const LayerJob& layer = query.layer;
  const auto bound = [&](Split split, Pass pass) {
    return LargestSplit(split, pass, layer);
  };
  ParallelGroup group = {
      "bounds",
      "Devices on which a feed-forward layer is compute-bound, at the most",
      absl::StrCat("B = ", HumanCount(layer.tokens), " tokens, F = ",
                   HumanCount(layer.d_ff), ", m = ", layer.matrices,
                   " matrices, ", MachineConstants(query.job)),
      {{"data_backward_devices", "data parallel, backward",
        "N <= 1 + 2 B W / (b C)", bound(Split::kData, Pass::kBackward),
        Unit::kDevices},
       {"fsdp_forward_devices", "FSDP, forward",
        "N <= 1 + X0, X0 = 2 B W / (b C)", bound(Split::kFsdp, Pass::kForward),
        Unit::kDevices},
       {"fsdp_backward_devices", "FSDP, backward", "N <= 1 + 2 B W / (b C)",
        bound(Split::kFsdp, Pass::kBackward), Unit::kDevices},
       {"tensor_forward_devices", "tensor parallel, forward",
        "N <= 1 + Y0, Y0 = m F W / (b C)",
        bound(Split::kTensor, Pass::kForward), Unit::kDevices},
       {"tensor_backward_devices", "tensor parallel, backward",
        "N <= 1 + 2 m F W / (b C)", bound(Split::kTensor, Pass::kBackward),
        Unit::kDevices}}};
  AddMeshRows(layer, /*overlap=*/true, "mesh_overlapped",
              "2D forward, collectives at the same time",
              "N <~ X0 Y0 = 2 m B F (W / (b C))^2", "N <= (1 + X0) (1 + Y0)",
              group);
  AddMeshRows(layer, /*overlap=*/false, "mesh_serial",
              "2D forward, collectives one by one",
              "N <~ X0 Y0 / 4 = m B F (W / (b C))^2 / 2",
              "max X Y, (X - 1) / X0 + (Y - 1) / Y0 <= 1", group);
  return group;
}

// The fewest GPUs that hold the state, if a GB has `gb_bytes`.
ParallelRow GpuRow(const ParallelQuery& query, const std::string& name,
                   const std::string& gb, double gb_bytes) {
  const std::string gpu = HumanCount(query.gpu_gb);
  return {name, absl::StrCat("  GPUs of ", gpu, " GB, if GB is ", gb),
          absl::StrCat("G / (", gpu, " ", gb, "), rounded up"),
          DevicesToHold(StateBytes(query.job), query.gpu_gb * gb_bytes),
          Unit::kDevices};
}

void AddFsdpRows(const ParallelQuery& query, ParallelGroup& group) {
  const double n = query.saved_tokens, device = query.fsdp_device_bytes;
  const std::optional<double> fewest = FewestFsdpDevices(query.job, n, device);
  std::optional<double> bytes;
  if (fewest) bytes = FsdpDeviceBytes(query.job, n, *fewest);
  group.rows.push_back({"fsdp_state_devices", "FSDP of the state alone",
                        "N > G / M", FewestFsdpDevices(query.job, 0, device),
                        Unit::kDevices});
  group.rows.push_back({"fsdp_devices", "FSDP of it and half the activations",
                        "N > (G + A n / 2) / (M - A n / 2)", fewest,
                        Unit::kDevices, kTooManyTokens});
  group.rows.push_back({"fsdp_device_bytes", "  memory of each",
                        "(G + A n / 2) / N + A n / 2", bytes, Unit::kBytes,
                        kTooManyTokens});
}

// Bytes of the sharded model, and the number of devices that hold them.
ParallelGroup MemoryGroup(const ParallelQuery& query) {
  const ShardedJob& job = query.job;
  ParallelGroup group = {
      "memory",
      "Memory of a stack of blocks of two matrices",
      absl::StrCat(
          "D = ", HumanCount(job.d_model), ", F = ", HumanCount(job.d_ff),
          ", L = ", HumanCount(job.blocks), " blocks, b = ", job.value_bytes,
          ", n = ", HumanCount(query.saved_tokens), " tokens, M = ",
          HumanBytesInBothUnits(query.fsdp_device_bytes), " a device"),
      {{"params", "parameters", "P = 2 D F L", ShardedJobParams(job),
        Unit::kParams},
       {"state_bytes", "weights, gradients, optimizer",
        absl::StrCat("G = ", job.state_bytes_per_param, " P"), StateBytes(job),
        Unit::kBytes},
       GpuRow(query, "decimal_gpus", "10^9", 1e9),
       GpuRow(query, "binary_gpus", "2^30", 0x1p30),
       {"saved_bytes_per_token", "activations saved per token",
        "A = b (D + F) L", SavedBytesPerToken(job), Unit::kBytes}}};
  AddFsdpRows(query, group);
  return group;
}

void AddBatchRows(const ShardedJob& job, bool overlap, const std::string& name,
                  const std::string& what, const std::string& formula,
                  ParallelGroup& group) {
  const std::optional<double> tokens = ComputeBoundTokens(job, overlap);
  std::optional<double> per_device;
  if (tokens) per_device = *tokens / (job.fsdp * job.tensor);
  group.rows.push_back({name + "_tokens", what, formula, tokens, Unit::kTokens,
                        kTooManyTensorRanks});
  group.rows.push_back({name + "_tokens_per_device", "  per device",
                        "B / (X Y)", per_device, Unit::kTokens,
                        kTooManyTensorRanks});
}

// The smallest compute-bound batch of the sharded model, and ways to lower it.
ParallelGroup BatchGroup(const ShardedJob& job) {
  ParallelGroup group = {
      "batch",
      "Batch from which their forward pass is compute-bound",
      absl::StrCat("X = ", HumanCount(job.fsdp), " FSDP ranks on M_X = ",
                   job.fsdp_axes, " axes, Y = ", HumanCount(job.tensor),
                   " tensor ranks on M_Y = ", job.tensor_axes, ", ",
                   MachineConstants(job)),
      {{"tensor_bound_devices", "tensor ranks", "Y < Y0 = 2 F W M_Y / (b C)",
        LargestTensorSplit(job), Unit::kDevices}}};
  AddBatchRows(job, /*overlap=*/true, "overlapped",
               "collectives at the same time", kTokensFormula, group);
  AddBatchRows(job, /*overlap=*/false, "serial", "collectives one by one",
               absl::StrCat(kTokensFormula, " / (1 - Y / Y0)"), group);
  for (const BatchReduction& way : BatchReductions(job)) {
    group.rows.push_back({absl::StrCat(way.name, "_tokens"),
                          absl::StrCat("lower: ", way.what), kTokensFormula,
                          ComputeBoundTokens(way.job, /*overlap=*/true),
                          Unit::kTokens, kTooManyTensorRanks});
  }
  return group;
}

}  // namespace

std::vector<ParallelGroup> PlanParallel(const ParallelQuery& query) {
  std::vector<ParallelGroup> groups = {AllReduceGroup(query),
                                       OptimizerGroup(query)};
  for (const Link& link : query.links) {
    groups.push_back(BucketGroup(query, link));
  }
  groups.push_back(BoundsGroup(query));
  groups.push_back(MemoryGroup(query));
  groups.push_back(BatchGroup(query.job));
  return groups;
}

}  // namespace trainbench
