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
    return Add(name, Kind::kRange, start, end, thread);
  }

  // Ids are numbered from 1, in order of calls.
  TraceEvent& Op(const std::string& name, int64_t start, int64_t end,
                 int64_t sequence = -1, uint64_t thread = 1) {
    TraceEvent& op = Add(name, Kind::kOp, start, end, thread);
    op.sequence = sequence;
    op.id = ++last_id_;
    return op;
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
    TraceEvent& kernel = Add(name, Kind::kDevice, start, end, 7);
    kernel.launcher = launcher;
    return kernel;
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
  TraceEvent& Add(const std::string& name, Kind kind, int64_t start,
                  int64_t end, uint64_t thread) {
    trace_.events.push_back({.name = name,
                             .kind = kind,
                             .start_ns = start,
                             .duration_ns = end - start,
                             .thread = thread});
    return trace_.events.back();
  }

  Trace trace_;
  uint64_t last_id_ = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_TRACE_H_
