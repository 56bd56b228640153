// SPDX-License-Identifier: MIT
// Calls and bytes of the collectives of a rank, by kind.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/spec/parallel/collective.h"

namespace trainbench {

struct CollectiveCalls {
  int64_t calls = 0;
  // Bytes of whole tensors: summed, scattered or gathered, or broadcast by this
  // rank as the root.
  int64_t bytes = 0;

  bool operator==(const CollectiveCalls&) const = default;
};

// Bytes that one of `ranks` ranks sends for whole tensors of `bytes` bytes. On
// rings: (N - 1) / N of a scatter or gather, 2 (N - 1) / N of an all-reduce
// (Patarasuk & Yuan 2009). A broadcast counts at its root, with a copy for each
// other rank: a backend may let other ranks forward copies, but all ranks
// together send as many.
double SentBytes(CollectiveKind kind, int64_t bytes, int64_t ranks);

class Traffic {
 public:
  void Add(CollectiveKind kind, int64_t bytes, int64_t calls = 1);

  const CollectiveCalls& Of(CollectiveKind kind) const {
    return by_kind_[static_cast<std::size_t>(kind)];
  }
  CollectiveCalls All() const;

  // Bytes sent by one of `ranks` ranks.
  double SentBytes(int64_t ranks) const;

  bool operator==(const Traffic&) const = default;
  // `part` must be contained in this traffic.
  Traffic operator-(const Traffic& part) const;

 private:
  std::array<CollectiveCalls, kCollectiveKinds.size()> by_kind_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_
