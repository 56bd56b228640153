// SPDX-License-Identifier: MIT

#include "fixtures/kernel_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace trainbench {
namespace {

using ::testing::HasSubstr;

TEST(FamilyOfTest, ReadsTheNamesOfCublasAndCutlass) {
  const std::initializer_list<std::pair<const char*, KernelFamily>> kernels = {
      {"ampere_sgemm_128x64_tn", KernelFamily::kFp32},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>",
       KernelFamily::kFp32},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8",
       KernelFamily::kFp32},
      {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32",
       KernelFamily::kTf32},
      {"cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4",
       KernelFamily::kTf32},
      {"cutlass_tensorop_s1688tf32gemm_256x128_16x3_nn_align4",
       KernelFamily::kTf32},
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", KernelFamily::kBf16},
      {"cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1",
       KernelFamily::kBf16},
      {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", KernelFamily::kBf16},
      {"nvjet_sm90_hss_320x128_64x3_1x2_h_bz_NNT", KernelFamily::kFp16},
      {"nvjet_sm100a_tst_128x256", KernelFamily::kBf16},
      {"nvjet_qqtst_128x256", KernelFamily::kUnknown},
      {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", KernelFamily::kFp16},
      {"ampere_fp16_s16816gemm_fp16_128x64", KernelFamily::kFp16},
      {"void gemv2T_kernel_val<int, int>", KernelFamily::kUnknown},
      {"vectorized_elementwise_kernel<4, AddFunctor<float>>",
       KernelFamily::kOther},
      {"Memcpy DtoD (Device -> Device)", KernelFamily::kOther},
      {"softmax_warp_forward<float, float, float, 8>", KernelFamily::kOther},
      {"elementwise_kernel<BFloat16>", KernelFamily::kOther},
  };
  for (const auto& [name, family] : kernels) {
    EXPECT_EQ(FamilyOf(name), family)
        << name << " is " << KernelFamilyName(FamilyOf(name));
  }
}

Trace Kernels(std::initializer_list<const char*> names) {
  Trace trace;
  for (const char* name : names) {
    trace.events.push_back({.name = name, .kind = TraceEvent::Kind::kDevice});
  }
  return trace;
}

constexpr const char* kSgemm = "ampere_sgemm_128x64_tn";
constexpr const char* kTf32 = "cutlass_80_tensorop_s1688gemm_128x256";
constexpr const char* kBf16 = "nvjet_tst_128x256";
constexpr const char* kAdd = "vectorized_elementwise_kernel";

TEST(ProvePrecisionTest, CountsTheFamilies) {
  EXPECT_EQ(*ProvePrecision(Kernels({kSgemm, kAdd, kSgemm}), Precision::kFp32),
            "fp32 x2");
  EXPECT_EQ(*ProvePrecision(Kernels({kSgemm, kBf16, kBf16}),
                            Precision::kBf16Autocast),
            "bf16 x2,fp32 x1");
  EXPECT_EQ(*ProvePrecision(Kernels({kAdd}), Precision::kFp32), "none");
}

TEST(ProvePrecisionTest, AForeignFamilyIsNamed) {
  const auto proof = ProvePrecision(Kernels({kSgemm, kTf32}), Precision::kFp32);
  EXPECT_THAT(std::string(proof.status().message()),
              AllOf(HasSubstr("says fp32"), HasSubstr(kTf32),
                    HasSubstr("computes in tf32")));
  EXPECT_FALSE(ProvePrecision(Kernels({kBf16}), Precision::kTf32).ok());
  EXPECT_FALSE(ProvePrecision(Kernels({kTf32}), Precision::kBf16).ok());
}

TEST(ProvePrecisionTest, TheFamilyOfTheNameMustOccur) {
  const auto proof = ProvePrecision(Kernels({kSgemm}), Precision::kTf32);
  EXPECT_THAT(std::string(proof.status().message()),
              HasSubstr("no kernel computes in tf32; there are fp32 x1"));
  EXPECT_FALSE(ProvePrecision(Kernels({kSgemm}), Precision::kBf16).ok());
  // A name that does not say it may be the one.
  EXPECT_TRUE(ProvePrecision(Kernels({"some_gemm"}), Precision::kTf32).ok());
}

TEST(ProvePrecisionTest, OperatorsOnTheHostProveNothing) {
  Trace trace = Kernels({kTf32});
  trace.events.front().kind = TraceEvent::Kind::kOp;
  EXPECT_EQ(*ProvePrecision(trace, Precision::kFp32), "none");
}

}  // namespace
}  // namespace trainbench
