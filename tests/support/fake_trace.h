// SPDX-License-Identifier: MIT
// Handwritten traces. Times `start` and `end` are in nanoseconds.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_TRACE_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "fixtures/profiling/profiler.h"

namespace trainbench {

class FakeTrace {
 public:
  using Kind = TraceEvent::Kind;

  TraceEvent& ProfilerRange(const std::string& name, int64_t start, int64_t end,
                            uint64_t thread = 1) {
    return Add({.name = name,
                .kind = Kind::kRange,
                .start_ns = start,
                .duration_ns = end - start,
                .thread = thread});
  }

  // Ids are numbered from 1, in order of calls.
  TraceEvent& Op(const std::string& name, int64_t start, int64_t end,
                 int64_t sequence = -1, uint64_t thread = 1) {
    return Add({.name = name,
                .start_ns = start,
                .duration_ns = end - start,
                .thread = thread,
                .sequence = sequence,
                .id = ++last_id_});
  }

  // A node of the backward pass, created on thread 1.
  TraceEvent& Node(const std::string& name, int64_t start, int64_t end,
                   int64_t sequence, uint64_t thread = 1) {
    TraceEvent& op = Op("autograd::engine::evaluate_function: " + name, start,
                        end, sequence, thread);
    op.is_backward = true;
    op.forward_thread = sequence >= 0 ? 1 : 0;
    return op;
  }

  TraceEvent& Kernel(const std::string& name, int64_t start, int64_t end,
                     uint64_t launcher) {
    return Add({.name = name,
                .kind = Kind::kDevice,
                .start_ns = start,
                .duration_ns = end - start,
                .thread = 7,
                .launcher = launcher});
  }

  // The events in the order that Profile returns.
  Trace Sorted() const {
    Trace sorted = trace_;
    std::stable_sort(sorted.events.begin(), sorted.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) {
                       return std::pair(a.start_ns, -a.duration_ns) <
                              std::pair(b.start_ns, -b.duration_ns);
                     });
    return sorted;
  }

 private:
  TraceEvent& Add(TraceEvent event) {
    trace_.events.push_back(std::move(event));
    return trace_.events.back();
  }

  Trace trace_;
  uint64_t last_id_ = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_TRACE_H_
