// SPDX-License-Identifier: MIT

#include "model/nn/sdpa_backend.h"

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/nn/attention.h"

namespace trainbench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr SdpaBackend kOnCpu[] = {SdpaBackend::kMath, SdpaBackend::kFlash};

std::vector<bool> Enabled() {
  const at::Context& context = at::globalContext();
  return {context.userEnabledMathSDP(), context.userEnabledFlashSDP(),
          context.userEnabledMemEfficientSDP(), context.userEnabledCuDNNSDP(),
          context.userEnabledOverrideableSDP()};
}

std::set<std::string>& Seen() {
  static auto* const seen = new std::set<std::string>();
  return *seen;
}

std::unique_ptr<at::ObserverContext> Note(const at::RecordFunction& op) {
  Seen().insert(op.name());
  return nullptr;
}

// Names of the operators that `work` runs on this thread.
std::set<std::string> OpsOf(const std::function<void()>& work) {
  Seen().clear();
  const at::CallbackHandle handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&Note).scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  return Seen();
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
  for (const SdpaBackend backend : kSdpaBackends) {
    {
      const SdpaBackendScope scope(backend);
      std::vector<bool> only(5, false);
      only[static_cast<std::size_t>(backend)] = true;
      EXPECT_EQ(Enabled(), only) << SdpaBackendName(backend);
    }
    EXPECT_EQ(Enabled(), before) << SdpaBackendName(backend);
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

TEST(SdpaBackendScopeTest, TheOpOfTheBackendRunsAndNoOther) {
  const Inputs in(at::kFloat);
  for (const SdpaBackend backend : kOnCpu) {
    const auto ops = OpsOf([&] {
      const SdpaBackendScope scope(backend);
      SdpaAttention(in.q, in.k, in.v);
    });
    for (const SdpaBackend other : kOnCpu) {
      const std::string op(SdpaOpName(other, c10::kCPU));
      if (other == backend) {
        EXPECT_THAT(ops, Contains(op));
      } else {
        EXPECT_THAT(ops, Not(Contains(op)));
      }
    }
  }
}

TEST(SdpaBackendScopeTest, AnUnavailableBackendThrowsInsteadOfFallingBack) {
  const Inputs in(at::kFloat);
  for (const SdpaBackend backend :
       {SdpaBackend::kEfficient, SdpaBackend::kCudnn}) {
    const SdpaBackendScope scope(backend);
    EXPECT_THROW(SdpaAttention(in.q, in.k, in.v), c10::Error);
  }
}

// Output and gradients of a backend, in float64.
std::vector<at::Tensor> Differentiate(const SdpaBackend* backend,
                                      at::ScalarType dtype) {
  const Inputs in(dtype);
  at::Tensor out;
  if (backend == nullptr) {
    out = NaiveAttention(in.q, in.k, in.v);
  } else {
    const SdpaBackendScope scope(*backend);
    out = SdpaAttention(in.q, in.k, in.v);
  }
  // Outside the scope: the backward pass has to need no scope.
  out.square().sum().backward();
  std::vector<at::Tensor> results = {out.detach()};
  for (const at::Tensor* x : {&in.q, &in.k, &in.v}) {
    results.push_back(x->grad());
  }
  for (at::Tensor& result : results) result = result.to(at::kDouble);
  return results;
}

TEST(SdpaBackendScopeTest, EachBackendGivesTheFloat64Result) {
  const auto expected = Differentiate(nullptr, at::kDouble);
  for (const SdpaBackend backend : kOnCpu) {
    for (const auto& [dtype, tolerance] :
         {std::pair(at::kDouble, 1e-13), std::pair(at::kFloat, 1e-6),
          std::pair(at::kBFloat16, 2e-2)}) {
      const auto actual = Differentiate(&backend, dtype);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error =
            ((actual[i] - expected[i]).norm() / expected[i].norm())
                .item<double>();
        EXPECT_LE(error, tolerance)
            << SdpaBackendName(backend) << " " << dtype << " tensor " << i;
      }
    }
  }
}

TEST(SdpaUnavailableTest, SaysWhatIsMissing) {
  const auto reason = [](SdpaBackend backend, c10::DeviceType device,
                         c10::ScalarType dtype) {
    return SdpaUnavailable(backend, device, dtype);
  };
  using enum SdpaBackend;
  for (const c10::ScalarType dtype : {c10::kFloat, c10::kBFloat16}) {
    EXPECT_EQ(reason(kMath, c10::kCPU, dtype), "");
    EXPECT_EQ(reason(kFlash, c10::kCPU, dtype), "");
    EXPECT_THAT(reason(kEfficient, c10::kCPU, dtype), HasSubstr("NVIDIA GPU"));
    EXPECT_THAT(reason(kCudnn, c10::kCPU, dtype), HasSubstr("NVIDIA GPU"));
    EXPECT_EQ(reason(kMath, c10::kCUDA, dtype), "");
    EXPECT_EQ(reason(kEfficient, c10::kCUDA, dtype), "");
  }
  for (const SdpaBackend backend : {kFlash, kCudnn}) {
    EXPECT_EQ(reason(backend, c10::kCUDA, c10::kBFloat16), "");
    EXPECT_EQ(reason(backend, c10::kCUDA, c10::kHalf), "");
    EXPECT_THAT(reason(backend, c10::kCUDA, c10::kFloat),
                HasSubstr("bf16 or fp16 only"));
  }
}

}  // namespace
}  // namespace trainbench
