// SPDX-License-Identifier: MIT
// What ranks send: calls and bytes of collectives, by kind.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/spec/parallel/collective.h"

namespace trainbench {

struct CollectiveCalls {
  int64_t calls = 0;
  // Of whole tensors: what is summed, scattered or gathered, or what this rank
  // broadcasts as the root.
  int64_t bytes = 0;

  bool operator==(const CollectiveCalls&) const = default;
};

// Bytes that one of `ranks` ranks sends for whole tensors of so many bytes. On
// rings: (N - 1) / N of what is scattered or gathered, 2 (N - 1) / N of what is
// all-reduced (Patarasuk & Yuan 2009). A root sends to each other rank.
double SentBytes(CollectiveKind kind, int64_t bytes, int64_t ranks);

class Traffic {
 public:
  void Add(CollectiveKind kind, int64_t bytes, int64_t calls = 1);

  const CollectiveCalls& Of(CollectiveKind kind) const {
    return by_kind_[static_cast<std::size_t>(kind)];
  }
  CollectiveCalls All() const;

  // Sent by one of `ranks` ranks.
  double SentBytes(int64_t ranks) const;

  bool operator==(const Traffic&) const = default;
  // `part` is contained in it.
  Traffic operator-(const Traffic& part) const;

 private:
  std::array<CollectiveCalls, kCollectiveKinds.size()> by_kind_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_TRAFFIC_H_
