// SPDX-License-Identifier: MIT

#include "model/distributed/comm/traffic.h"

namespace trainbench {

double SentBytes(CollectiveKind kind, int64_t bytes, int64_t ranks) {
  const auto all = static_cast<double>(bytes);
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * all / n * (n - 1);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return all / n * (n - 1);
    case CollectiveKind::kBroadcast:
      return all * (n - 1);
  }
  return 0;
}

void Traffic::Add(CollectiveKind kind, int64_t bytes, int64_t calls) {
  CollectiveCalls& sum = by_kind_[static_cast<std::size_t>(kind)];
  sum.calls += calls;
  sum.bytes += bytes;
}

CollectiveCalls Traffic::All() const {
  CollectiveCalls all;
  for (const CollectiveCalls& sum : by_kind_) {
    all.calls += sum.calls;
    all.bytes += sum.bytes;
  }
  return all;
}

double Traffic::SentBytes(int64_t ranks) const {
  double sent = 0;
  for (const CollectiveKind kind : kCollectiveKinds) {
    sent += trainbench::SentBytes(kind, Of(kind).bytes, ranks);
  }
  return sent;
}

Traffic Traffic::operator-(const Traffic& part) const {
  Traffic rest = *this;
  for (const CollectiveKind kind : kCollectiveKinds) {
    rest.Add(kind, -part.Of(kind).bytes, -part.Of(kind).calls);
  }
  return rest;
}

}  // namespace trainbench
