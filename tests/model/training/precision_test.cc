// SPDX-License-Identifier: MIT

#include "model/spec/precision.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <tuple>
#include <utility>

#include "model/nn/autocast.h"
#include "model/nn/dtype.h"
#include "model/nn/linear.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

Float32Precision Matmul(Float32Backend backend) {
  return at::globalContext().float32Precision(backend, Float32Op::MATMUL);
}

void SetMatmul(Float32Backend backend, Float32Precision precision) {
  at::globalContext().setFloat32Precision(backend, Float32Op::MATMUL,
                                          precision);
}

// The state that AutocastScope changes, including the nesting depth.
using AutocastState = std::tuple<bool, at::ScalarType, bool, int>;
AutocastState GetAutocast(at::DeviceType device) {
  at::autocast::increment_nesting();
  return {at::autocast::is_autocast_enabled(device),
          at::autocast::get_autocast_dtype(device),
          at::autocast::is_autocast_cache_enabled(),
          at::autocast::decrement_nesting()};
}

TEST(PrecisionTest, OnlyBf16StoresBf16Weights) {
  EXPECT_EQ(WeightType(Precision::kFp32), at::kFloat);
  EXPECT_EQ(WeightType(Precision::kTf32), at::kFloat);
  EXPECT_EQ(WeightType(Precision::kBf16Autocast), at::kFloat);
  EXPECT_EQ(WeightType(Precision::kBf16), at::kBFloat16);
}

TEST(PrecisionTest, DtypesHaveTheNamesThatRowsUse) {
  EXPECT_EQ(DtypeName(at::kDouble), "fp64");
  EXPECT_EQ(DtypeName(at::kFloat), "fp32");
  EXPECT_EQ(DtypeName(at::kHalf), "fp16");
  EXPECT_EQ(DtypeName(at::kBFloat16), "bf16");
  EXPECT_EQ(DtypeName(at::kLong), "Long");
  EXPECT_EQ(BitsOf(at::kBFloat16), 16);
  EXPECT_EQ(BitsOf(at::kFloat), 32);
}

class MatmulScopeTest : public testing::Test {
 protected:
  ~MatmulScopeTest() override {
    SetMatmul(Float32Backend::CUDA, cuda_);
    SetMatmul(Float32Backend::MKLDNN, mkldnn_);
  }
  const Float32Precision cuda_ = Matmul(Float32Backend::CUDA);
  const Float32Precision mkldnn_ = Matmul(Float32Backend::MKLDNN);
};

TEST_F(MatmulScopeTest, OnlyTf32AllowsTf32AndWhatWasFoundIsRestored) {
  for (const auto& [cuda, mkldnn] :
       {std::pair(Float32Precision::IEEE, Float32Precision::IEEE),
        std::pair(Float32Precision::TF32, Float32Precision::BF16)}) {
    SetMatmul(Float32Backend::CUDA, cuda);
    SetMatmul(Float32Backend::MKLDNN, mkldnn);
    for (const Precision precision : kPrecisions) {
      SCOPED_TRACE(PrecisionName(precision));
      {
        const MatmulScope scope(precision);
        EXPECT_EQ(Matmul(Float32Backend::CUDA), precision == Precision::kTf32
                                                    ? Float32Precision::TF32
                                                    : Float32Precision::IEEE);
        EXPECT_EQ(Matmul(Float32Backend::MKLDNN), Float32Precision::IEEE);
      }
      EXPECT_EQ(Matmul(Float32Backend::CUDA), cuda);
      EXPECT_EQ(Matmul(Float32Backend::MKLDNN), mkldnn);
    }
  }
}

class AutocastScopeTest : public testing::TestWithParam<at::DeviceType> {};

TEST_P(AutocastScopeTest, IsOnAsAskedAndRestoresWhatItFound) {
  const at::DeviceType device = GetParam();
  const AutocastState initial = GetAutocast(device);
  for (const bool enabled : {false, true}) {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, at::kHalf);
    at::autocast::set_autocast_cache_enabled(false);
    const AutocastState found(enabled, at::kHalf, false, 0);
    for (const Precision precision : kPrecisions) {
      {
        const AutocastScope scope(precision, device);
        EXPECT_EQ(GetAutocast(device),
                  AutocastState(precision == Precision::kBf16Autocast,
                                at::kBFloat16, true, 1))
            << PrecisionName(precision);
      }
      EXPECT_EQ(GetAutocast(device), found) << PrecisionName(precision);
    }
    for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
      {
        const AutocastScope scope(dtype, device);
        EXPECT_EQ(GetAutocast(device), AutocastState(true, dtype, true, 1));
      }
      EXPECT_EQ(GetAutocast(device), found) << DtypeName(dtype);
    }
  }
  at::autocast::set_autocast_enabled(device, std::get<0>(initial));
  at::autocast::set_autocast_dtype(device, std::get<1>(initial));
  at::autocast::set_autocast_cache_enabled(std::get<2>(initial));
  EXPECT_EQ(GetAutocast(device), initial);
}

// The state is on the host, so it is readable without a GPU.
INSTANTIATE_TEST_SUITE_P(Devices, AutocastScopeTest,
                         testing::Values(at::kCPU, at::kCUDA),
                         [](const auto& param) {
                           return c10::DeviceTypeName(param.param);
                         });

TEST(AutocastTest, AWeightUpdateBetweenTwoScopesIsSeen) {
  at::manual_seed(2);
  Linear linear(8, 4, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor x = at::randn({3, 8});
  const auto forward = [&] {
    const AutocastScope scope(Precision::kBf16Autocast, at::kCPU);
    return linear(x).detach();
  };
  const at::Tensor before = forward();
  {
    const at::NoGradGuard no_grad;
    linear->weight.mul_(2);
  }
  // Doubling is exact in bf16; a cached copy of the weight would give `before`.
  EXPECT_TRUE(forward().equal(before * 2));
}

}  // namespace
}  // namespace trainbench
