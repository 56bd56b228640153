// SPDX-License-Identifier: MIT
// The probes that are compared with a GPU give correct results in the emulator.

#include "tests/model/kernels/gpu/probes.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

template <class P>
class ProbeTest : public testing::Test {};

using Probes = testing::Types<MmaProbe, LoadMatrixProbe, CopyProbe,
                              ShuffleProbe, MathProbe, ReduceProbe>;
TYPED_TEST_SUITE(ProbeTest, Probes);

TYPED_TEST(ProbeTest, RunsAndWritesAllOfItsOutput) {
  using P = TypeParam;
  Tensors t(1);
  const auto* in = t.Input<float>(P::kInBytes / 4);
  auto* out = t.Output<uint32_t>(P::kOutBytes / 4);
  std::memset(out, 0xa5, P::kOutBytes);
  EXPECT_EQ(t.launcher().template Launch<P>({P::kBlocks, P::kMaxThreads, 4096},
                                            {in, out}),
            "");
  // Sums of random bits may have any value except the initial one.
  for (int i = 1; i < P::kOutBytes / 4; ++i) EXPECT_NE(out[i], 0xa5a5a5a5) << i;
}

}  // namespace
}  // namespace trainbench::kernels
