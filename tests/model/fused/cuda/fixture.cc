// SPDX-License-Identifier: MIT

#include "tests/model/fused/cuda/fixture.h"

#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>

#include "fixtures/device/cuda_support.h"
#include "tests/model/kernels/emulated.h"
#include "tools/null_gpu/null_gpu.h"

namespace trainbench {
namespace {

using kernels::EmulatedKernels;

// Returns a function of the null GPU, which is preloaded.
template <typename Function>
Function* NullGpu(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

at::Tensor On(at::DeviceType device, const at::Tensor& x) {
  const auto elements = static_cast<int64_t>(x.storage().nbytes()) /
                        static_cast<int64_t>(x.element_size());
  return x.detach()
      .as_strided({elements}, {1}, 0)
      .to(device, /*non_blocking=*/false, /*copy=*/true)
      .as_strided(x.sizes(), x.strides(), x.storage_offset());
}

Tensors Leaves(const Tensors& values) {
  Tensors leaves;
  for (const at::Tensor& value : values) {
    leaves.push_back(value.detach().requires_grad_());
  }
  return leaves;
}

Tensors Widened(const Tensors& values) {
  Tensors wide;
  for (const at::Tensor& value : values) {
    wide.push_back(value.to(at::kDouble));
  }
  return wide;
}

// Random numbers that are exact in bf16, and so in all dtypes.
Tensors RandomLike(const Tensors& results) {
  Tensors random;
  for (const at::Tensor& result : results) {
    random.push_back(
        at::randn(result.sizes()).to(at::kBFloat16).to(result.scalar_type()));
  }
  return random;
}

Tensors Without(const Tensors& all, std::size_t left_out) {
  return {all.begin() + static_cast<std::ptrdiff_t>(left_out), all.end()};
}

}  // namespace

void CudaFusedTest::SetUp() {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << "no CUDA device";
  at::manual_seed(1);
  emulated_ = EmulatedKernels::Install();
  if (emulated_) ResetCounters();
}

void CudaFusedTest::ResetCounters() {
  EmulatedKernels::Take();
  NullGpu<decltype(trainbench_null_gpu_reset)>("trainbench_null_gpu_reset")();
}

void CudaFusedTest::ExpectKernelsOfLibTorch(int64_t count) {
  if (!emulated_) return;
  trainbench_null_gpu_counters counters = {};
  NullGpu<decltype(trainbench_null_gpu_count)>("trainbench_null_gpu_count")(
      &counters, sizeof(counters));
  auto kernels = static_cast<int64_t>(counters.launches);
  for (const EmulatedKernels::Launch& launch : EmulatedKernels::Take()) {
    EXPECT_EQ(launch.wrong, "") << launch.kernel;
    --kernels;
  }
  EXPECT_EQ(kernels, count);
  ResetCounters();
}

at::Tensor CudaFusedTest::ToDevice(const at::Tensor& host) {
  return On(at::kCUDA, host);
}

at::Tensor CudaFusedTest::ToHost(const at::Tensor& device) {
  return On(at::kCPU, device);
}

Tensors CudaFusedTest::ToDevice(const Tensors& host) {
  Tensors on_device;
  for (const at::Tensor& x : host) on_device.push_back(ToDevice(x));
  return on_device;
}

void CudaFusedTest::ExpectEqual(const Operation& fused,
                                const Operation& formula, const Tensors& values,
                                const std::string& what, std::size_t left_out) {
  const auto expect_near = [&](const at::Tensor& actual,
                               const at::Tensor& expected, const char* kind,
                               std::size_t i) {
    EXPECT_EQ(actual.sizes(), expected.sizes()) << what;
    EXPECT_LE(RelativeNorm(ToHost(actual), expected),
              Tolerance(actual.scalar_type()))
        << what << ", " << kind << " " << i;
  };
  const Tensors inputs = Leaves(ToDevice(values));
  const Tensors wide = Leaves(Widened(values));
  const Tensors actual = fused(inputs), expected = formula(wide);
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    expect_near(actual[i], expected[i], "result", i);
  }
  const Tensors random = RandomLike(expected);
  Tensors on_device;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    on_device.push_back(ToDevice(random[i].to(actual[i].scalar_type())));
  }
  const Tensors g = torch::autograd::grad(Without(actual, left_out), inputs,
                                          Without(on_device, left_out));
  const Tensors e = torch::autograd::grad(Without(expected, left_out), wide,
                                          Without(random, left_out));
  const auto known = [&](const at::Tensor& x) {
    return known_columns_ < 0 ? x : x.narrow(-1, 0, known_columns_);
  };
  for (std::size_t i = 0; i < g.size(); ++i) {
    EXPECT_EQ(g[i].scalar_type(), values[i].scalar_type()) << what;
    expect_near(known(g[i]), known(e[i]), "gradient", i);
  }
}

}  // namespace trainbench
