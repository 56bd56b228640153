// SPDX-License-Identifier: MIT

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "model/spec/not_allowed.h"
#include "tools/planner/flags.h"

ABSL_FLAG(double, mfu, 0,
          "Says how long training takes at this share of --peak_tflops, above "
          "0, up to 1.");
ABSL_FLAG(double, peak_tflops, 0,
          "Peak of the device in 10^12 FLOP/s, for --mfu. With --measured the "
          "measured share of it is printed, too.");
ABSL_FLAG(std::string, measured, "",
          "Says how long training takes at the rates of `model_size` in this "
          "result.");

ABSL_DECLARE_FLAG(int64_t, tokens);

namespace trainbench {
namespace {

constexpr int64_t kMaxTrainingTokens = int64_t{1} << 50;

}  // namespace

absl::StatusOr<std::optional<TrainingQuery>> ReadTrainingQuery() {
  TrainingQuery query;
  query.tokens = absl::GetFlag(FLAGS_tokens);
  query.mfu = absl::GetFlag(FLAGS_mfu);
  query.measured = absl::GetFlag(FLAGS_measured);
  const double peak = absl::GetFlag(FLAGS_peak_tflops);
  query.peak_flops_per_second = peak * 1e12;
  if (!(query.mfu >= 0 && query.mfu <= 1)) {
    return NotAllowed("mfu", query.mfu, "above 0, up to 1");
  }
  if (!(peak == 0 || (peak >= kMin && peak <= kMax))) {
    return NotAllowed("peak_tflops", peak, absl::StrCat(kMin, " to ", kMax));
  }
  if (query.tokens < 1 || query.tokens > kMaxTrainingTokens) {
    return NotAllowed("tokens", query.tokens,
                      absl::StrCat("1 to ", kMaxTrainingTokens));
  }
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
