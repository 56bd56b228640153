// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_data.h"

#include "absl/strings/str_cat.h"
#include "model/accounting/communication.h"
#include "tools/planner/parallel_units.h"

namespace trainbench {
namespace {

ParallelRow TrafficRow(const ParallelQuery& query, OptimizerTraffic kind,
                       const char* name, const char* what,
                       const char* formula) {
  return {name, what, formula,
          OptimizerTrafficBytes(kind, query.gradient_bytes, query.ranks),
          ParallelUnit::kBytes};
}

}  // namespace

ParallelGroup AllReduceGroup(const ParallelQuery& query) {
  const double bandwidth = query.job.link_bytes_per_second;
  const double ring = RingAllReduceBytes(query.gradient_bytes, query.ranks);
  const double alternate =
      AlternateRingAllReduceBytes(query.gradient_bytes, query.ranks);
  return {"all_reduce",
          "All-reduce on a ring of links",
          absl::StrCat("S = ", BytesInBothUnits(query.gradient_bytes),
                       ", N = ", query.ranks, " ranks, W = ", Rate(bandwidth)),
          {{"ring_bytes", "reduce-scatter and all-gather, sent per rank",
            "2 (N - 1) / N S", ring, ParallelUnit::kBytes},
           {"ring_seconds", "  time", "2 (N - 1) / N S / W", ring / bandwidth,
            ParallelUnit::kSeconds},
           {"alternate_ring_bytes", "whole buffers round the ring, per rank",
            "(N - 1) S", alternate, ParallelUnit::kBytes},
           {"alternate_ring_seconds", "  time", "(N - 1) S / W",
            alternate / bandwidth, ParallelUnit::kSeconds},
           {"bus_bandwidth_factor", "busbw over algbw", "2 (N - 1) / N",
            BusBandwidthFactor(query.ranks)}}};
}

ParallelGroup OptimizerGroup(const ParallelQuery& query) {
  return {"optimizer",
          "Sent per rank and step, by where the optimizer's state is",
          absl::StrCat("Psi = ", BytesInBothUnits(query.gradient_bytes),
                       " of gradients, as many of parameters, N = ",
                       query.ranks, " ranks"),
          {TrafficRow(query, OptimizerTraffic::kReplicated, "replicated_bytes",
                      "replicated: all-reduce", "2 Psi (N - 1) / N"),
           TrafficRow(query, OptimizerTraffic::kSharded, "sharded_bytes",
                      "sharded (ZeRO-1): reduce-scatter, all-gather",
                      "(1 + 1) Psi (N - 1) / N"),
           TrafficRow(query, OptimizerTraffic::kShardedByBroadcast,
                      "broadcast_bytes", "sharded: all-reduce, broadcasts",
                      "(2 + 1) Psi (N - 1) / N")}};
}

ParallelGroup BucketGroup(const ParallelQuery& query,
                          const ParallelLink& link) {
  // Cannot fail: the query has only positive values.
  const BucketPlan plan = *OptimalBuckets(query.gradient_bytes, link.call);
  return {absl::StrCat("buckets/", link.name),
          absl::StrCat("Buckets sent during the backward pass on ", link.name),
          absl::StrCat("s = ", BytesInBothUnits(query.gradient_bytes),
                       ", w = ", Rate(1e6 / link.call.us_per_byte),
                       ", o = ", HumanCount(link.call.alpha_us), " us a call"),
          {{"bucket_bytes", "best bucket", "sqrt(s w o), at most s",
            plan.bucket_bytes, ParallelUnit::kBytes},
           {"buckets", "number of buckets", "sqrt(s / (w o)), at least 1",
            plan.buckets},
           {"overhead_seconds", "the step takes longer by", "s / (w n) + n o",
            plan.overhead_us / 1e6, ParallelUnit::kSeconds},
           {"one_bucket_overhead_seconds", "and with one bucket", "s / w + o",
            BucketOverheadUs(query.gradient_bytes, 1, link.call) / 1e6,
            ParallelUnit::kSeconds}}};
}

}  // namespace trainbench
