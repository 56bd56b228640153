// SPDX-License-Identifier: MIT
// Collectives of messages from each rank to the next (Patarasuk & Yuan 2009).
//
// For Gloo, where PyTorch 2.11 has them in name only: _reduce_scatter_base
// all-reduces a copy of the input, twice the traffic and memory, and
// _allgather_base gathers into a copy of the output.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_

#include <ATen/core/Tensor.h>

namespace c10d {
class Backend;
}

namespace trainbench {

// Both take [N * n] contiguous values over N ranks, of which part r belongs to
// rank r, and need N - 1 rounds of n values sent and n received. They throw
// what c10d throws.

// Parts are sent in segments of kRingSegment: one is added to the sum while
// the next is on its way. Leaves the sum over all ranks in this rank's part and
// partial sums in the others.
void RingReduceScatter(c10d::Backend& backend, const at::Tensor& values);

// Replaces the others' parts by what those ranks have there.
void RingAllGather(c10d::Backend& backend, const at::Tensor& values);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_
