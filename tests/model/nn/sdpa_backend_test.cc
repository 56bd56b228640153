// SPDX-License-Identifier: MIT

#include "model/nn/attention/sdpa_backend.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <stdexcept>
#include <vector>

#include "model/nn/attention/variants.h"

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

struct Inputs {
  explicit Inputs(at::ScalarType dtype) {
    at::manual_seed(1);
    for (at::Tensor* x : {&q, &k, &v}) {
      *x = at::randn({2, 1, 70, 16}, at::kDouble).to(dtype);
      x->requires_grad_(true);
    }
  }
  at::Tensor q, k, v;
};

TEST(SdpaBackendScopeTest, LeavesOneBackendAndRestoresWhatWasSet) {
  at::globalContext().setSDPUseCuDNN(false);
  const std::vector<bool> before = Enabled();
  EXPECT_THAT(before, testing::ElementsAre(true, true, true, false, true));
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

TEST(SdpaBackendScopeTest, RestoresAfterAnExceptionAndWhenNested) {
  const std::vector<bool> before = Enabled();
  try {
    const SdpaBackendScope outer(SdpaBackend::kFlash);
    const SdpaBackendScope inner(SdpaBackend::kMath);
    throw std::runtime_error("on purpose");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(Enabled(), before);
}

TEST(SdpaBackendScopeTest, AnUnavailableBackendThrowsInsteadOfFallingBack) {
  const Inputs in(at::kFloat);
  for (const SdpaBackend backend :
       {SdpaBackend::kEfficient, SdpaBackend::kCudnn}) {
    const SdpaBackendScope scope(backend);
    EXPECT_THROW(SdpaAttention(in.q, in.k, in.v), c10::Error);
  }
}

}  // namespace
}  // namespace trainbench
