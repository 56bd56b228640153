// SPDX-License-Identifier: MIT

#include "model/nn/attention/sdpa_backend.h"

#include <ATen/Context.h>

#include <cstddef>
#include <vector>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr SdpaBackend kBackends[] = {SdpaBackend::kMath, SdpaBackend::kFlash,
                                     SdpaBackend::kEfficient,
                                     SdpaBackend::kCudnn};

std::vector<bool> Enabled() {
  const at::Context& context = at::globalContext();
  return {context.userEnabledMathSDP(), context.userEnabledFlashSDP(),
          context.userEnabledMemEfficientSDP(), context.userEnabledCuDNNSDP(),
          context.userEnabledOverrideableSDP()};
}

TEST(SdpaBackendScopeTest, LeavesOneBackendAndRestoresWhatWasSet) {
  at::globalContext().setSDPUseCuDNN(false);
  const std::vector<bool> before = Enabled();
  EXPECT_THAT(before, ElementsAre(true, true, true, false, true));
  for (const SdpaBackend backend : kBackends) {
    {
      const SdpaBackendScope scope(backend);
      std::vector<bool> only(5, false);
      only[static_cast<std::size_t>(backend)] = true;
      EXPECT_EQ(Enabled(), only) << static_cast<int>(backend);
    }
    EXPECT_EQ(Enabled(), before) << static_cast<int>(backend);
  }
  at::globalContext().setSDPUseCuDNN(true);
}

}  // namespace
}  // namespace trainbench
