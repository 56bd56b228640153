// SPDX-License-Identifier: MIT

#include "model/training/adamw.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixtures/memory/memory_probe.h"

namespace trainbench {
namespace {

constexpr AdamWKind kKinds[] = {AdamWKind::kTextbook, AdamWKind::kFused};

// Two tensors, so that swapped states would be noticed.
std::vector<at::Tensor> MakeParameters(at::ScalarType dtype) {
  return {at::randn({5, 7}, dtype).requires_grad_(true),
          at::randn({33}, dtype).requires_grad_(true)};
}

std::vector<at::Tensor> Copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().clone().requires_grad_(true));
  }
  return copies;
}

std::vector<AdamWOptions> SeveralOptions() {
  return {{},
          {1e-2, 0.9, 0.999, 1e-8, 0.0},
          {1.0, 0.9, 0.999, 1e-8, 0.5},
          {1e-1, 0.0, 0.5, 0.1, 0.1},
          {1e-1, 0.5, 0.0, 1e-3, 2.0}};
}

TEST(AdamWTest, BothKindsFollowTheFormulaElementByElement) {
  for (const AdamWKind kind : kKinds) {
    for (const AdamWOptions& o : SeveralOptions()) {
      at::manual_seed(1);
      at::Tensor parameter = at::randn({1}, at::kDouble).requires_grad_(true);
      double w = parameter.item<double>(), m = 0, v = 0;
      AdamW optimizer({parameter}, kind, o);
      for (int step = 1; step <= 10; ++step) {
        parameter.mutable_grad() = at::randn({1}, at::kDouble);
        const double g = parameter.grad().item<double>();
        optimizer.Step();
        // Loshchilov & Hutter 2019, algorithm 2.
        w -= o.lr * o.weight_decay * w;
        m = o.beta1 * m + (1 - o.beta1) * g;
        v = o.beta2 * v + (1 - o.beta2) * g * g;
        const double m_hat = m / (1 - std::pow(o.beta1, step));
        const double v_hat = v / (1 - std::pow(o.beta2, step));
        w -= o.lr * m_hat / (std::sqrt(v_hat) + o.eps);
        EXPECT_NEAR(parameter.item<double>(), w, 1e-12)
            << AdamWName(kind) << " step " << step;
      }
    }
  }
}

TEST(AdamWTest, AParameterWithoutAGradientIsSkippedWithItsStepCount) {
  for (const AdamWKind kind : kKinds) {
    at::manual_seed(3);
    const auto parameters = MakeParameters(at::kDouble);
    const auto twin = Copies({parameters[1]});
    const auto all = Copies(parameters);
    const at::Tensor& before = all[1];
    AdamW optimizer(parameters, kind), fresh(twin, kind);
    optimizer.Step();  // without any gradient
    EXPECT_TRUE(parameters[0].equal(all[0])) << AdamWName(kind);
    for (int step = 0; step < 3; ++step) {
      parameters[0].mutable_grad() = at::randn({5, 7}, at::kDouble);
      optimizer.Step();
    }
    EXPECT_TRUE(parameters[1].equal(before)) << AdamWName(kind);
    // Its first update is step 1, also for the bias correction.
    parameters[0].mutable_grad().reset();
    parameters[1].mutable_grad() = at::randn({33}, at::kDouble);
    twin[0].mutable_grad() = parameters[1].grad().clone();
    const at::Tensor other = parameters[0].detach().clone();
    optimizer.Step();
    fresh.Step();
    EXPECT_TRUE(parameters[1].equal(twin[0])) << AdamWName(kind);
    EXPECT_FALSE(parameters[1].equal(before)) << AdamWName(kind);
    EXPECT_TRUE(parameters[0].equal(other)) << AdamWName(kind);
  }
}

TEST(AdamWTest, MomentsAreAllocatedByTheConstructor) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const AdamWKind kind : kKinds) {
      at::manual_seed(5);
      const auto probe = MakeMemoryProbe(at::kCPU);
      const auto parameters = MakeParameters(dtype);
      for (const at::Tensor& parameter : parameters) {
        parameter.mutable_grad() = at::randn_like(parameter).detach();
      }
      std::unique_ptr<AdamW> optimizer;
      probe->Observe(
          [&] { optimizer = std::make_unique<AdamW>(parameters, kind); });
      const int64_t size = dtype == at::kFloat ? 4 : 2;
      // Two moments of 5 * 7 + 33 elements; fused also has an fp32 step count
      // per tensor.
      const int64_t counts = kind == AdamWKind::kFused ? 2 * 4 : 0;
      EXPECT_EQ(probe->LiveBytes(), 2 * (5 * 7 + 33) * size + counts);
      const int64_t before = probe->LiveBytes();
      for (int step = 0; step < 2; ++step) {
        probe->Observe([&] { optimizer->Step(); });
        EXPECT_EQ(probe->LiveBytes(), before) << AdamWName(kind);
      }
    }
  }
}

}  // namespace
}  // namespace trainbench
