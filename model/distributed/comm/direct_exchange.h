// SPDX-License-Identifier: MIT
// Collectives in which each rank sends to every other rank at once.
//
// Used for Gloo: its transport thread then moves all messages while the caller
// computes. In a ring, each round waits for the previous one, which would need
// a thread of our own. Both send the same bytes, (N - 1) n of N n. On a network
// with fewer links than pairs of ranks, a ring is the better schedule.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_DIRECT_EXCHANGE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_DIRECT_EXCHANGE_H_

#include <ATen/core/Tensor.h>

#include <memory>

#include "model/distributed/comm/process_group.h"

namespace c10d {
class Backend;
}

namespace trainbench {

// Both take N * n contiguous values over N ranks; chunk r, n values, belongs to
// rank r. The values must not be used until Wait() returns. Both functions
// throw as Wait() does.

// Replaces every other chunk by its owner's values.
std::unique_ptr<Collective> StartDirectAllGather(c10d::Backend& backend,
                                                 const at::Tensor& values);

// Leaves the sum over all ranks in this rank's chunk of `input` and in
// `output`, which may be that chunk. Adds in the same order as the ring, r + 1,
// r + 2, ..., r, so the result is bitwise equal. Receives into a buffer of
// (N - 1) n values, which stays allocated until Wait() returns.
std::unique_ptr<Collective> StartDirectReduceScatter(c10d::Backend& backend,
                                                     const at::Tensor& output,
                                                     const at::Tensor& input);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_DIRECT_EXCHANGE_H_
