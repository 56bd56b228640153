// SPDX-License-Identifier: MIT
// What data parallelism sends and how long that takes, in closed form.
//
// Symbols: N ranks; S bytes of one all-reduce's buffer; Psi bytes of all
// gradients, or of all parameters, which are as many. Bytes per rank count what
// one rank sends; in each of these it receives as many.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/accounting/alpha_beta.h"
#include "model/spec/optimizer_sharding.h"

namespace trainbench {

// Times algbw gives busbw, which compares with a link's bandwidth whatever the
// number of ranks (nccl-tests, doc/PERFORMANCE.md): 2 (N - 1) / N.
// ranks >= 1; 0 for one rank, which sends nothing.
double BusBandwidthFactor(int64_t ranks);

// Of a ring of N ranks that reduce-scatters, then all-gathers (Patarasuk & Yuan
// 2009): 2 (N - 1) steps of S / N. The least that an all-reduce can send.
double RingAllReduceBytes(double bytes, int64_t ranks);

// Of a ring on which whole buffers go round, each rank adding up what comes by:
// (N - 1) S. N / 2 times as much in half as many steps: better only for
// buffers so small that alpha counts alone. Over a link of W bytes per second
// it takes (N - 1) S / W.
double AlternateRingAllReduceBytes(double bytes, int64_t ranks);

// Bytes that a rank sends in one step for Psi bytes of gradients and as many of
// parameters over N ranks:
//   kReplicated  all-reduce of gradients, 2 Psi (N - 1) / N
//   kSharded     reduce-scatter of gradients and all-gather of parameters,
//                Psi (N - 1) / N each (ZeRO-1, Rajbhandari et al. 2020, 7.2.1)
//   kBroadcast   all-reduce of gradients, then each rank broadcasts its Psi /
//   N:
//                on average (N - 1) Psi / N more, 3 Psi (N - 1) / N
double OptimizerTrafficBytes(OptimizerSharding sharding, double gradient_bytes,
                             int64_t ranks);

// Gradients in n equal buckets, each sent while the backward pass computes the
// next (CS336 assignment 2, 2025, ddp_bucketed_benchmarking). What a step takes
// longer than its computing: the last bucket has nothing left to hide behind,
// Psi beta / n, and each call costs the computing alpha, n alpha. Assumes that
// a bucket is sent in no more time than the next is computed: what does not fit
// under the backward pass comes on top.
double BucketOverheadUs(double gradient_bytes, double buckets,
                        const AlphaBeta& call);

struct BucketPlan {
  double buckets = 1;  // not rounded
  double bucket_bytes = 0;
  double overhead_us = 0;
};

// Where that is least: n = sqrt(Psi beta / alpha), buckets of sqrt(Psi alpha /
// beta) bytes, an overhead of 2 sqrt(Psi alpha beta). One bucket if fewer would
// be best. InvalidArgument unless bytes and alpha are positive and finite and
// beta is finite and not negative: calls that cost nothing have no best number.
absl::StatusOr<BucketPlan> OptimalBuckets(double gradient_bytes,
                                          const AlphaBeta& call);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMMUNICATION_H_
