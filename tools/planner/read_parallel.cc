// SPDX-License-Identifier: MIT

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

constexpr double kGiga = 1e9;

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double gb_per_s = 0, us = 0;
  if (parts.size() != 3 || !IsName(parts[0]) ||
      !absl::SimpleAtod(parts[1], &gb_per_s) ||
      !absl::SimpleAtod(parts[2], &us)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "links has '", text, "'; allowed: NAME:GB_PER_S:US, by comma"));
  }
  const std::string link = absl::StrCat("links has '", text, "', whose ");
  absl::Status status = CheckRange(link + "GB_PER_S", gb_per_s, kAmount);
  if (status.ok()) status = CheckRange(link + "US", us, kAmount);
  if (!status.ok()) return status;
  return Link{parts[0], {us, 1e6 / (gb_per_s * kGiga)}};
}

absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text) {
  std::vector<Link> links;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    absl::StatusOr<Link> link = ParseLink(item);
    if (!link.ok()) return link.status();
    for (const Link& other : links) {
      if (other.name == link->name) {
        return absl::InvalidArgumentError(
            absl::StrCat("links has '", link->name, "' twice; allowed: once"));
      }
    }
    links.push_back(*std::move(link));
  }
  return links;
}

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
