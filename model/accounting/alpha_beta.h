// SPDX-License-Identifier: MIT
// The time of a collective as a function of its buffer size.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ALPHA_BETA_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ALPHA_BETA_H_

#include <optional>
#include <vector>

namespace trainbench {

// The alpha-beta model of one call (Hockney 1994): a fixed cost plus a cost per
// byte of its buffer, t(S) = alpha + S beta. 1 / beta is algbw, the buffer's
// bytes divided by the call's time; busbw, of an all-reduce over N ranks, is
// 2 (N - 1) / N times algbw. Valid only for the number of ranks in the fit.
struct AlphaBeta {
  double alpha_us = 0;
  double us_per_byte = 0;

  double Us(double bytes) const { return alpha_us + us_per_byte * bytes; }
};

// One measured call.
struct CallTime {
  double bytes = 0;
  double us = 0;
};

// Returns the nonnegative alpha and beta that minimize the sum of squared
// relative errors, sum ((alpha + beta S - t) / t)^2. Times span decades; with
// absolute errors, the noise of the largest buffer would determine alpha.
// nullopt if a size or time is not positive and finite, or if fewer than two
// sizes are distinct.
std::optional<AlphaBeta> FitAlphaBeta(const std::vector<CallTime>& calls);

// The largest |predicted - measured| / measured, which shows how far to trust
// the fit. 0 without calls.
double LargestRelativeError(const AlphaBeta& model,
                            const std::vector<CallTime>& calls);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ALPHA_BETA_H_
