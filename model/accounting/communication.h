// SPDX-License-Identifier: MIT
// Bytes that data parallelism sends, and their time, in closed form.
//
// Symbols: N ranks; S bytes in the buffer of one all-reduce; Psi bytes in all
// gradients, and as many in all parameters. Bytes are those that one rank
// sends; it receives as many.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/accounting/alpha_beta.h"
#include "model/spec/parallel/optimizer_sharding.h"

namespace trainbench {

// busbw / algbw, 2 (N - 1) / N. busbw compares with the bandwidth of a link,
// whatever the number of ranks (nccl-tests, doc/PERFORMANCE.md). ranks >= 1; 0
// for one rank, which sends nothing.
double BusBandwidthFactor(int64_t ranks);

// An all-reduce on a ring: reduce-scatter, then all-gather (Patarasuk & Yuan
// 2009), 2 (N - 1) steps of S / N. No all-reduce can send less.
double RingAllReduceBytes(double bytes, int64_t ranks);

// Bytes that a rank sends in one step for Psi bytes of gradients and as many of
// parameters over N ranks:
//   kReplicated  all-reduce of gradients, 2 Psi (N - 1) / N
//   kSharded     reduce-scatter of gradients and all-gather of parameters,
//                Psi (N - 1) / N each (ZeRO-1, Rajbhandari et al. 2020, 7.2.1)
//   kBroadcast   all-reduce of gradients; then each rank broadcasts the
//                parameters that it owns, on average (N - 1) Psi / N more:
//                3 Psi (N - 1) / N
double OptimizerTrafficBytes(OptimizerSharding sharding, double gradient_bytes,
                             int64_t ranks);

// Time that communication adds to a step whose gradients are sent in n equal
// buckets, each while the backward pass computes the next (CS336 assignment 2,
// 2025, ddp_bucketed_benchmarking): Psi beta / n for the last bucket, which
// overlaps nothing, and n alpha for the calls, which delay the computation.
// Assumes that sending a bucket takes no longer than computing the next; any
// excess comes on top.
double BucketOverheadUs(double gradient_bytes, double buckets,
                        const AlphaBeta& call);

// The same where ranks send with the cores that compute. Of the last bucket the
// step waits for the whole time, as above; of the others for the CPU time of
// their calls, `cpu`, divided by the rank's threads, because their waiting is
// hidden. At most the time of all calls one after another.
double SharedCoresOverheadUs(double gradient_bytes, double buckets,
                             const AlphaBeta& call, const AlphaBeta& cpu,
                             double threads);

// Bytes that a step reads and writes to scale its gradients by the number of
// ranks, in place or into buckets, and to copy them back: `copied_bytes` counts
// the copies only.
double ScalingBytes(double gradient_bytes, double copied_bytes);

struct BucketPlan {
  double buckets = 1;  // not rounded
  double bucket_bytes = 0;
  double overhead_us = 0;
};

// The n with the least overhead: n = sqrt(Psi beta / alpha), buckets of
// sqrt(Psi alpha / beta) bytes, an overhead of 2 sqrt(Psi alpha beta). At least
// one bucket. InvalidArgument unless bytes and alpha are positive and finite
// and beta is finite and not negative: without alpha, more buckets are always
// better.
absl::StatusOr<BucketPlan> OptimalBuckets(double gradient_bytes,
                                          const AlphaBeta& call);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
