// SPDX-License-Identifier: MIT

#include "model/spec/not_allowed.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

constexpr Range kTrainingTokens = {1, int64_t{1} << 50};

}  // namespace

absl::StatusOr<std::optional<TrainingQuery>> ReadTrainingQuery(
    const PlannerFlags& flags) {
  TrainingQuery query;
  query.tokens = flags.tokens;
  query.mfu = flags.mfu;
  query.measured = flags.measured;
  const double peak = flags.peak_tflops;
  query.peak_flops_per_second = peak * 1e12;
  if (!(query.mfu >= 0 && query.mfu <= 1)) {
    return NotAllowed("mfu", query.mfu, "above 0, up to 1");
  }
  absl::Status status;
  if (peak != 0) status = CheckRange("peak_tflops", peak, kAmount);
  if (status.ok()) status = CheckRange("tokens", query.tokens, kTrainingTokens);
  if (!status.ok()) return status;
  const bool asks = query.mfu > 0 || !query.measured.empty();
  if (!asks && peak > 0) {
    return NotAllowed("peak_tflops", peak, "only with --mfu or --measured");
  }
  if (!asks && query.tokens != kDefaultTokens) {
    return NotAllowed("tokens", query.tokens,
                      "only with --mfu, --measured or --parallel");
  }
  if (!asks) return std::nullopt;
  if (query.mfu > 0 && !query.measured.empty()) {
    return NotAllowed("mfu", query.mfu, "only without --measured");
  }
  if (query.mfu > 0 && peak == 0) {
    return NotAllowed("mfu", query.mfu, "only with --peak_tflops");
  }
  if (!query.measured.empty()) {
    absl::StatusOr<std::vector<MeasuredRate>> rates = ReadRates(query.measured);
    if (!rates.ok()) return rates.status();
    query.rates = *std::move(rates);
  }
  return query;
}

}  // namespace trainbench
