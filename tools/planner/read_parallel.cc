// SPDX-License-Identifier: MIT

#include <utility>

#include "model/accounting/parallel/links.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

constexpr double kGiga = 1e9;

}  // namespace

absl::StatusOr<ParallelQuery> ReadParallelQuery(const PlannerFlags& flags,
                                                const ModeFlags& declared) {
  ParallelQuery query;
  LayerJob& layer = query.layer;
  ShardedJob& job = query.job;
  absl::Status status =
      CheckRange("tokens", flags.tokens, Range{1, kMaxTokens});
  if (status.ok()) status = declared.CheckRanges(Mode::kParallel);
  if (!status.ok()) return status;
  layer.tokens = flags.tokens;
  layer.d_model = job.d_model = flags.d_model;
  layer.d_ff = job.d_ff = flags.d_ff;
  layer.matrices = flags.ffn_matrices;
  job.blocks = flags.blocks;
  job.state_bytes_per_param = flags.state_bytes_per_param;
  layer.value_bytes = job.value_bytes = flags.value_bytes;
  layer.flops_per_second = job.flops_per_second = flags.device_tflops * 1e12;
  layer.link_bytes_per_second = job.link_bytes_per_second =
      flags.link_gb_per_s * kGiga;
  job.fsdp = flags.fsdp_ranks;
  job.tensor = flags.tensor_ranks;
  job.fsdp_axes = flags.fsdp_axes;
  job.tensor_axes = flags.tensor_axes;
  query.gpu_gb = flags.gpu_gb;
  query.fsdp_device_bytes = flags.fsdp_device_gb * kGiga;
  query.saved_tokens = flags.saved_tokens;
  query.ranks = flags.ranks;
  query.gradient_bytes = flags.gradient_gb * kGiga;
  query.numbers = declared.Numbers(Mode::kParallel);
  query.numbers.emplace(query.numbers.begin(), "tokens", layer.tokens);

  query.links_flag = flags.links;
  absl::StatusOr<std::vector<Link>> links = ParseLinks(query.links_flag);
  if (!links.ok()) return links.status();
  query.links = *std::move(links);
  return query;
}

}  // namespace trainbench
