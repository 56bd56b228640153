// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_query.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxTokens = int64_t{1} << 40;
constexpr double kGiga = 1e9;
// Of amounts and rates, in their units.
constexpr double kMin = 1e-6, kMax = 1e9;

// For whole numbers and others; false for NaN too.
template <typename T>
absl::Status InRange(absl::string_view name, T value, T min, T max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed: ", min, " to ", max));
}

absl::Status ValidateSizes(const ParallelFlags& flags) {
  struct Size {
    absl::string_view name;
    int64_t value, min, max;
  };
  for (const Size& size : {
           Size{"tokens", flags.tokens, 1, kMaxTokens},
           Size{"d_model", flags.d_model, 1, kMaxSize},
           Size{"d_ff", flags.d_ff, 1, kMaxSize},
           Size{"ffn_matrices", flags.ffn_matrices, 1, 16},
           Size{"blocks", flags.blocks, 1, kMaxSize},
           Size{"fsdp_ranks", flags.fsdp_ranks, 1, kMaxSize},
           Size{"tensor_ranks", flags.tensor_ranks, 1, kMaxSize},
           Size{"fsdp_axes", flags.fsdp_axes, 1, 16},
           Size{"tensor_axes", flags.tensor_axes, 1, 16},
           Size{"saved_tokens", flags.saved_tokens, 0, kMaxTokens},
           Size{"ranks", flags.ranks, 1, kMaxSize},
       }) {
    absl::Status status = InRange(size.name, size.value, size.min, size.max);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ValidateAmounts(const ParallelFlags& flags) {
  struct Amount {
    absl::string_view name;
    double value, min, max;
  };
  for (const Amount& amount : {
           Amount{"state_bytes_per_param", flags.state_bytes_per_param, 0.125,
                  1024},
           Amount{"value_bytes", flags.value_bytes, 0.125, 16},
           Amount{"device_tflops", flags.device_tflops, kMin, kMax},
           Amount{"link_gb_per_s", flags.link_gb_per_s, kMin, kMax},
           Amount{"gpu_gb", flags.gpu_gb, kMin, kMax},
           Amount{"fsdp_device_gb", flags.fsdp_device_gb, kMin, kMax},
           Amount{"gradient_gb", flags.gradient_gb, kMin, kMax},
       }) {
    absl::Status status =
        InRange(amount.name, amount.value, amount.min, amount.max);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::StatusOr<ParallelLink> ParseLink(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double gb_per_s = 0, us = 0;
  if (parts.size() != 3 || !IsName(parts[0]) ||
      !absl::SimpleAtod(parts[1], &gb_per_s) ||
      !absl::SimpleAtod(parts[2], &us)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "links has '", text, "'; allowed: NAME:GB_PER_S:US, by comma"));
  }
  absl::Status status =
      InRange(absl::StrCat("links has '", text, "', whose GB_PER_S"), gb_per_s,
              kMin, kMax);
  if (status.ok()) {
    status = InRange(absl::StrCat("links has '", text, "', whose US"), us, kMin,
                     kMax);
  }
  if (!status.ok()) return status;
  return ParallelLink{parts[0], {us, 1e6 / (gb_per_s * kGiga)}};
}

absl::StatusOr<std::vector<ParallelLink>> ParseLinks(absl::string_view text) {
  std::vector<ParallelLink> links;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    absl::StatusOr<ParallelLink> link = ParseLink(item);
    if (!link.ok()) return link.status();
    for (const ParallelLink& other : links) {
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

absl::StatusOr<ParallelQuery> ParseParallelQuery(const ParallelFlags& flags) {
  absl::Status status = ValidateSizes(flags);
  if (status.ok()) status = ValidateAmounts(flags);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<ParallelLink>> links = ParseLinks(flags.links);
  if (!links.ok()) return links.status();
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  const double flops = flags.device_tflops * 1e12;
  const double bandwidth = flags.link_gb_per_s * kGiga;
  return ParallelQuery{
      .layer = {.tokens = count(flags.tokens),
                .d_model = count(flags.d_model),
                .d_ff = count(flags.d_ff),
                .matrices = count(flags.ffn_matrices),
                .value_bytes = flags.value_bytes,
                .flops_per_second = flops,
                .link_bytes_per_second = bandwidth},
      .job = {.d_model = count(flags.d_model),
              .d_ff = count(flags.d_ff),
              .blocks = count(flags.blocks),
              .state_bytes_per_param = flags.state_bytes_per_param,
              .value_bytes = flags.value_bytes,
              .flops_per_second = flops,
              .link_bytes_per_second = bandwidth,
              .fsdp = count(flags.fsdp_ranks),
              .tensor = count(flags.tensor_ranks),
              .fsdp_axes = count(flags.fsdp_axes),
              .tensor_axes = count(flags.tensor_axes)},
      .gpu_gb = flags.gpu_gb,
      .fsdp_device_bytes = flags.fsdp_device_gb * kGiga,
      .saved_tokens = count(flags.saved_tokens),
      .ranks = flags.ranks,
      .gradient_bytes = flags.gradient_gb * kGiga,
      .links = *std::move(links)};
}

}  // namespace trainbench
