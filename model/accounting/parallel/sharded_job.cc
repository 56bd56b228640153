// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/sharded_job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

double HalfOfSavedBytes(const ShardedJob& job, double tokens) {
  return SavedBytesPerToken(job) * tokens / 2;
}

// The largest whole divisor of X Y below LargestTensorSplit; 1 if there is
// none.
double BestTensorSplit(const ShardedJob& job) {
  const double devices = job.fsdp * job.tensor;
  const double bound = LargestTensorSplit(job);
  double best = 1;
  for (double small = 1; small * small <= devices; ++small) {
    if (std::fmod(devices, small) != 0) continue;
    for (const double y : {small, devices / small}) {
      if (y < bound) best = std::max(best, y);
    }
  }
  return best;
}

}  // namespace

double ShardedJobParams(const ShardedJob& job) {
  return 2 * job.d_model * job.d_ff * job.blocks;
}

double StateBytes(const ShardedJob& job) {
  return job.state_bytes_per_param * ShardedJobParams(job);
}

double SavedBytesPerToken(const ShardedJob& job) {
  return job.value_bytes * (job.d_model + job.d_ff) * job.blocks;
}

double DevicesToHold(double bytes, double device_bytes) {
  return std::ceil(bytes / device_bytes);
}

double FsdpDeviceBytes(const ShardedJob& job, double tokens, double devices) {
  const double half = HalfOfSavedBytes(job, tokens);
  return (StateBytes(job) + half) / devices + half;
}

std::optional<double> FewestFsdpDevices(const ShardedJob& job, double tokens,
                                        double device_bytes) {
  const double half = HalfOfSavedBytes(job, tokens);
  if (half >= device_bytes) return std::nullopt;
  return std::floor((StateBytes(job) + half) / (device_bytes - half)) + 1;
}

double LargestTensorSplit(const ShardedJob& job) {
  return 2 * job.d_ff * job.link_bytes_per_second * job.tensor_axes /
         (job.value_bytes * job.flops_per_second);
}

std::optional<double> ComputeBoundTokens(const ShardedJob& job, bool overlap) {
  const double bound = LargestTensorSplit(job);
  if (job.tensor >= bound) return std::nullopt;
  const double tokens = job.value_bytes * job.fsdp * job.flops_per_second /
                        (2 * job.link_bytes_per_second * job.fsdp_axes);
  return overlap ? tokens : tokens / (1 - job.tensor / bound);
}

std::vector<BatchReduction> BatchReductions(const ShardedJob& job) {
  std::vector<BatchReduction> reductions;
  if (const double tensor = BestTensorSplit(job); tensor > job.tensor) {
    ShardedJob wider = job;
    wider.tensor = tensor;
    wider.fsdp = job.fsdp * job.tensor / tensor;
    reductions.push_back(
        {"more_tensor",
         absl::StrCat(
             "more tensor parallelism: X = ", static_cast<int64_t>(wider.fsdp),
             ", Y = ", static_cast<int64_t>(wider.tensor)),
         wider});
  }
  ShardedJob narrow = job;
  narrow.value_bytes = job.value_bytes / 2;
  reductions.push_back({"half_width",
                        absl::StrCat("weights and activations sent in ",
                                     8 * narrow.value_bytes, " bits"),
                        narrow});
  if (job.fsdp >= 2) {
    ShardedJob stage = job;
    stage.fsdp = job.fsdp / 2;
    reductions.push_back(
        {"two_stages", "2 pipeline stages that keep gathered weights", stage});
  }
  return reductions;
}

}  // namespace trainbench
