// SPDX-License-Identifier: MIT
// Reduce-scatter and all-gather over Gloo, by messages between ranks. PyTorch
// 2.11 only emulates them: _reduce_scatter_base all-reduces a copy of the
// input, with twice the traffic and memory, and _allgather_base gathers into a
// copy of the output.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_EXCHANGES_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_EXCHANGES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/distributed/comm/process_group.h"

namespace c10d {
class Backend;
}

namespace trainbench {

// `to` may be a view of `from`.
void CopyUnlessSame(const at::Tensor& from, const at::Tensor& to);

// A view of chunk `index` modulo `size` of `size` equal chunks; `index` may be
// negative.
at::Tensor Chunk(const at::Tensor& values, int index, int size);

// The functions below take N * n contiguous values over N ranks; chunk r, n
// values, belongs to rank r. Each rank sends (N - 1) n values.

// Messages with one tag meet each other only. All functions without a parameter
// for it use this tag.
inline constexpr int kUsualTag = 0;

// On a ring, each rank sends only to the next one (Patarasuk & Yuan 2009), n
// values in each of N - 1 rounds. Both functions throw what c10d throws.

// The longest message, in values.
inline constexpr int64_t kRingSegment = int64_t{1} << 18;

// Leaves the sum over all ranks in this rank's chunk and partial sums in the
// others. Chunks are sent in segments of kRingSegment values: one segment is
// added to the sum while the next is in flight.
void RingReduceScatter(c10d::Backend& backend, const at::Tensor& values);

// Replaces every other chunk by its owner's values.
void RingAllGather(c10d::Backend& backend, const at::Tensor& values, int tag);

// Directly, each rank sends to every other rank at once: Gloo's transport
// thread moves all messages while the caller computes. In a ring, each round
// waits for the previous one, which would need a thread of our own. On a
// network with fewer links than pairs of ranks, a ring is the better schedule.
// The values must not be used until Await() returns. Both functions throw as
// Await() does.

// Replaces every other chunk by its owner's values.
Collective StartDirectAllGather(c10d::Backend& backend,
                                const at::Tensor& values);

// Leaves the sum over all ranks in this rank's chunk of `input` and in
// `output`, which may be that chunk. Adds in the same order as the ring, r + 1,
// r + 2, ..., r, so the result is bitwise equal. Receives into a buffer of
// (N - 1) n values, which stays allocated until Await() returns.
Collective StartDirectReduceScatter(c10d::Backend& backend,
                                    const at::Tensor& output,
                                    const at::Tensor& input);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_EXCHANGES_H_
