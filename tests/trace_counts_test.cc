// SPDX-License-Identifier: MIT

#include "fixtures/trace_counts.h"

#include <gtest/gtest.h>

namespace trainbench {
namespace {

using Kind = TraceEvent::Kind;

TraceEvent Event(const char* name, Kind kind, int64_t start, int64_t duration,
                 uint64_t thread = 1) {
  return {.name = name,
          .kind = kind,
          .start_ns = start,
          .duration_ns = duration,
          .thread = thread};
}

TEST(TraceCountsTest, CountsWhatNothingEncloses) {
  const Trace trace = {{Event("phase", Kind::kRange, 0, 100),
                        Event("matmul", Kind::kOp, 0, 50),
                        Event("mm", Kind::kOp, 10, 30),
                        Event("other thread", Kind::kOp, 20, 10, 2),
                        Event("add", Kind::kOp, 50, 10),
                        Event("kernel", Kind::kDevice, 60, 5, 7),
                        Event("Memset (Device)", Kind::kDevice, 70, 5, 7)}};
  EXPECT_EQ(CountOutermostOps(trace), 3);
  EXPECT_EQ(CountKernels(trace), 1);
  EXPECT_TRUE(HasOp(trace, "mm"));
  EXPECT_FALSE(HasOp(trace, "kernel"));
  EXPECT_EQ(CountOutermostOps({}), 0);
}

}  // namespace
}  // namespace trainbench
