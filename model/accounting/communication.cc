// SPDX-License-Identifier: MIT

#include "model/accounting/communication.h"

#include <algorithm>
#include <cmath>

#include "model/accounting/alpha_beta.h"

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

std::optional<double> OptimalBucketBytes(double gradient_bytes,
                                         const AlphaBeta& call) {
  const bool is_finite = std::isfinite(gradient_bytes) &&
                         std::isfinite(call.alpha_us) &&
                         std::isfinite(call.us_per_byte);
  if (!is_finite || gradient_bytes <= 0 || call.alpha_us <= 0 ||
      call.us_per_byte < 0) {
    return std::nullopt;
  }
  const double buckets = std::max(
      1.0, std::sqrt(gradient_bytes * call.us_per_byte / call.alpha_us));
  return gradient_bytes / buckets;
}

}  // namespace trainbench
