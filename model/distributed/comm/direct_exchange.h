// SPDX-License-Identifier: MIT
// Collectives in which each rank sends to every other rank at once.
//
// For Gloo, whose transport thread then moves all messages while the caller
// computes. A ring, whose rounds wait for each other, would need a thread of
// its own for that. Both send the same bytes, (N - 1) n of N n. On a network
// that has fewer links than pairs of ranks a ring is the better schedule.

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
// rank r. Nobody may use the values until Wait() returns. They and Wait() throw
// what c10d throws.

// Replaces every other chunk by its owner's values.
std::unique_ptr<Collective> StartDirectAllGather(c10d::Backend& backend,
                                                 const at::Tensor& values);

// Leaves the sum over all ranks in this rank's chunk, added in the order of the
// ring, so to the same bits: r + 1, r + 2, ..., r. Receives into (N - 1) n
// values, which are there until Wait() returns.
std::unique_ptr<Collective> StartDirectReduceScatter(c10d::Backend& backend,
                                                     const at::Tensor& values);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_DIRECT_EXCHANGE_H_
