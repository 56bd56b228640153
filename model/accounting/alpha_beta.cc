// SPDX-License-Identifier: MIT

#include "model/accounting/alpha_beta.h"

#include <algorithm>
#include <cmath>

namespace trainbench {
namespace {

bool CanFit(const std::vector<CallTime>& calls) {
  bool two_sizes = false;
  for (const CallTime& call : calls) {
    const bool is_finite = std::isfinite(call.bytes) && std::isfinite(call.us);
    if (!is_finite || call.bytes <= 0 || call.us <= 0) return false;
    two_sizes = two_sizes || call.bytes != calls.front().bytes;
  }
  return two_sizes;
}

double SquaredRelativeError(const AlphaBeta& model,
                            const std::vector<CallTime>& calls) {
  double sum = 0;
  for (const CallTime& call : calls) {
    const double error = model.Us(call.bytes) / call.us - 1;
    sum += error * error;
  }
  return sum;
}

// Unconstrained: weighted least squares with weights 1 / t^2, centered, because
// sums of raw squares would cancel.
AlphaBeta FreeFit(const std::vector<CallTime>& calls) {
  double weight = 0, bytes = 0, us = 0;
  for (const CallTime& call : calls) {
    const double w = 1 / (call.us * call.us);
    weight += w;
    bytes += w * call.bytes;
    us += w * call.us;
  }
  bytes /= weight;
  us /= weight;
  double covariance = 0, variance = 0;
  for (const CallTime& call : calls) {
    const double w = 1 / (call.us * call.us);
    covariance += w * (call.bytes - bytes) * (call.us - us);
    variance += w * (call.bytes - bytes) * (call.bytes - bytes);
  }
  const double beta = covariance / variance;
  return {us - beta * bytes, beta};
}

// The best fit on the boundary, beta = 0 or alpha = 0.
AlphaBeta EdgeFit(const std::vector<CallTime>& calls) {
  double inverse = 0, inverse_squares = 0, rate = 0, rate_squares = 0;
  for (const CallTime& call : calls) {
    inverse += 1 / call.us;
    inverse_squares += 1 / (call.us * call.us);
    rate += call.bytes / call.us;
    rate_squares += (call.bytes / call.us) * (call.bytes / call.us);
  }
  const AlphaBeta constant = {inverse / inverse_squares, 0};
  const AlphaBeta proportional = {0, rate / rate_squares};
  return SquaredRelativeError(constant, calls) <
                 SquaredRelativeError(proportional, calls)
             ? constant
             : proportional;
}

}  // namespace

std::optional<AlphaBeta> FitAlphaBeta(const std::vector<CallTime>& calls) {
  if (!CanFit(calls)) return std::nullopt;
  const AlphaBeta free = FreeFit(calls);
  // The error is convex: if its minimum is out of bounds, the best allowed fit
  // is on the boundary.
  if (free.alpha_us >= 0 && free.us_per_byte >= 0) return free;
  return EdgeFit(calls);
}

double LargestRelativeError(const AlphaBeta& model,
                            const std::vector<CallTime>& calls) {
  double largest = 0;
  for (const CallTime& call : calls) {
    largest = std::max(largest, std::abs(model.Us(call.bytes) / call.us - 1));
  }
  return largest;
}

}  // namespace trainbench
