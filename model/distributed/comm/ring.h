// SPDX-License-Identifier: MIT
// Ring collectives, in which each rank sends only to the next one (Patarasuk &
// Yuan 2009).
//
// Used for Gloo, where PyTorch 2.11 only emulates them: _reduce_scatter_base
// all-reduces a copy of the input, with twice the traffic and memory, and
// _allgather_base gathers into a copy of the output.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_

#include <ATen/core/Tensor.h>

namespace c10d {
class Backend;
}

namespace trainbench {

// Both take N * n contiguous values over N ranks; chunk r, n values, belongs to
// rank r. In each of N - 1 rounds a rank sends and receives n values. Both
// throw what c10d throws.

// Leaves the sum over all ranks in this rank's chunk and partial sums in the
// others. Chunks are sent in segments of kRingSegment values: one segment is
// added to the sum while the next is in flight.
void RingReduceScatter(c10d::Backend& backend, const at::Tensor& values);

// Replaces every other chunk by its owner's values.
void RingAllGather(c10d::Backend& backend, const at::Tensor& values);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_RING_H_
