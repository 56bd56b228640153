// SPDX-License-Identifier: MIT

#include "fixtures/symptom.h"

#include <gtest/gtest.h>

namespace trainbench {
namespace {

TEST(SymptomTest, ABrokenConnectionSpeaksOfAnotherRank) {
  for (const char* error :
       {"[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
        "Timed out waiting 2000ms for recv operation to complete",
        "wait timeout after 60000ms, keys: /here/1"}) {
    EXPECT_TRUE(IsTimeout(error)) << error;
    EXPECT_TRUE(IsSymptom(error)) << error;
  }
  for (const char* error :
       {"[/x/gloo/transport/tcp/pair.cc:547] Connection closed by peer [::1]:7",
        "Connection reset by peer",
        "[enforce fail at /x/gloo/transport/tcp/pair.cc:446] "
        "op.preamble.length",
        "NCCL error in: ProcessGroupNCCL.cpp:94, remote process exited"}) {
    EXPECT_FALSE(IsTimeout(error)) << error;
    EXPECT_TRUE(IsSymptom(error)) << error;
  }
}

TEST(SymptomTest, AReasonOfItsOwnDoesNot) {
  for (const char* error :
       {"wrong result: the sum is 3", "out of memory", ""}) {
    EXPECT_FALSE(IsTimeout(error)) << error;
    EXPECT_FALSE(IsSymptom(error)) << error;
  }
}

}  // namespace
}  // namespace trainbench
