// SPDX-License-Identifier: MIT
// The time that data parallel communication adds to a step, in closed form, for
// Psi bytes of gradients. The traffic is in model/distributed/comm/traffic.h.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_

#include <optional>

#include "model/accounting/alpha_beta.h"

namespace trainbench {

// Time that communication adds to a step that sends its gradients in n equal
// buckets, each while the backward pass computes the next (CS336 assignment 2,
// 2025, ddp_bucketed_benchmarking): Psi beta / n for the last bucket, which
// overlaps nothing, and n alpha for the calls, which delay the computation.
// Assumes that sending a bucket takes no longer than computing the next; any
// excess is not included.
double BucketOverheadUs(double gradient_bytes, double buckets,
                        const AlphaBeta& call);

// The same if ranks communicate on the cores that compute. The step waits for
// the whole time of the last bucket, as above. The others cost the CPU time of
// their calls, `cpu`, divided by the rank's threads, because waiting overlaps
// with computation. At most the time of all calls in sequence.
double SharedCoresOverheadUs(double gradient_bytes, double buckets,
                             const AlphaBeta& call, const AlphaBeta& cpu,
                             double threads);

// Returns the bytes of buckets with the least overhead: n = sqrt(Psi beta /
// alpha) buckets, not rounded, of sqrt(Psi alpha / beta) bytes, with an
// overhead of 2 sqrt(Psi alpha beta). At least one bucket. nullopt unless bytes
// and alpha are positive and finite and beta is finite and not negative:
// without alpha, more buckets are always better.
std::optional<double> OptimalBucketBytes(double gradient_bytes,
                                         const AlphaBeta& call);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
