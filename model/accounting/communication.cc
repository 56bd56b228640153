// SPDX-License-Identifier: MIT

#include "model/accounting/communication.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/accounting/alpha_beta.h"
#include "model/spec/status_macros.h"

namespace trainbench {

double BucketOverheadUs(double gradient_bytes, double buckets,
                        const AlphaBeta& call) {
  return gradient_bytes * call.us_per_byte / buckets + buckets * call.alpha_us;
}

double SharedCoresOverheadUs(double gradient_bytes, double buckets,
                             const AlphaBeta& call, const AlphaBeta& cpu,
                             double threads) {
  const double bucket = gradient_bytes / buckets;
  const double others = (buckets - 1) * cpu.Us(bucket) / threads;
  return std::min(call.Us(bucket) + others, buckets * call.Us(bucket));
}

absl::StatusOr<BucketPlan> OptimalBuckets(double gradient_bytes,
                                          const AlphaBeta& call) {
  RETURN_IF_ERROR(CheckPositive("gradient_bytes", gradient_bytes));
  RETURN_IF_ERROR(CheckPositive("alpha_us", call.alpha_us));
  if (!(call.us_per_byte >= 0) || !std::isfinite(call.us_per_byte)) {
    return absl::InvalidArgumentError(
        absl::StrCat("us_per_byte is ", call.us_per_byte,
                     "; allowed: finite and not negative"));
  }
  const double buckets = std::max(
      1.0, std::sqrt(gradient_bytes * call.us_per_byte / call.alpha_us));
  return BucketPlan{buckets, gradient_bytes / buckets,
                    BucketOverheadUs(gradient_bytes, buckets, call)};
}

}  // namespace trainbench
