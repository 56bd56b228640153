// SPDX-License-Identifier: MIT

#include "tools/null_gpu/api/product.h"

#include <algorithm>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/launch.h"

namespace null_gpu {
namespace {

constexpr int64_t kTile = 128;

Arithmetic ArithmeticOf(const Product& product) {
  switch (product.a) {
    case CUDA_R_16BF:
      return Arithmetic::kBf16;
    case CUDA_R_16F:
      return Arithmetic::kFp16;
    case CUDA_R_64F:
      return Arithmetic::kFp64;
    case CUDA_R_32F:
      break;
    default:
      return Arithmetic::kOther;
  }
  switch (product.compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return Arithmetic::kTf32;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return Arithmetic::kBf16;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return Arithmetic::kFp16;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return Arithmetic::kFp32;
    default:
      return product.tf32_allowed ? Arithmetic::kTf32 : Arithmetic::kFp32;
  }
}

std::string OnAmpere(Arithmetic arithmetic, const std::string& layout) {
  switch (arithmetic) {
    case Arithmetic::kTf32:
      return "ampere_sgemm_tf32_128x128_" + layout;
    case Arithmetic::kBf16:
      return "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_" +
             layout;
    case Arithmetic::kFp16:
      return "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_" +
             layout;
    default:
      return "ampere_sgemm_128x128_" + layout;
  }
}

std::string OnHopper(Arithmetic arithmetic, const std::string& layout) {
  const std::string chip =
      "sm" + std::to_string(GetSettings().profile->major) + "0";
  switch (arithmetic) {
    case Arithmetic::kTf32:
      return chip + "_xmma_gemm_f32f32_tf32f32_f32_" + layout +
             "_n_tilesize128x128x32_warpgroupsize1x1x1_execute_kernel";
    case Arithmetic::kBf16:
      return "nvjet_" + chip + "_tst_128x128_64x6_1x2_h_bz_" + layout;
    case Arithmetic::kFp16:
      return "nvjet_" + chip + "_hsh_128x128_64x6_1x2_h_bz_" + layout;
    default:
      return chip + "_xmma_gemm_f32f32_f32f32_f32_" + layout +
             "_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_execute_kernel";
  }
}

unsigned Tiles(int64_t size) {
  return static_cast<unsigned>(
      std::clamp<int64_t>((size + kTile - 1) / kTile, 1, 65535));
}

Work WorkOf(const Product& product) {
  const double width = product.a == CUDA_R_16BF || product.a == CUDA_R_16F ? 2
                       : product.a == CUDA_R_64F                           ? 8
                                                                           : 4;
  const auto m = static_cast<double>(product.m),
             n = static_cast<double>(product.n),
             k = static_cast<double>(product.k),
             batch = static_cast<double>(product.batch);
  return {.flops = 2 * batch * m * n * k,
          .bytes = width * batch * (m * k + k * n + m * n),
          .arithmetic = ArithmeticOf(product)};
}

}  // namespace

std::string ProductName(const Product& product) {
  const Arithmetic arithmetic = ArithmeticOf(product);
  const std::string layout = std::string(product.transpose_a ? "t" : "n") +
                             (product.transpose_b ? "t" : "n");
  if (arithmetic == Arithmetic::kFp64)
    return "dgemm_128x64_" + layout + "_null";
  if (arithmetic == Arithmetic::kOther) {
    return "gemm_of_type_" + std::to_string(product.a) + "_" + layout + "_null";
  }
  const bool ampere = GetSettings().profile->major < 9;
  return (ampere ? OnAmpere(arithmetic, layout)
                 : OnHopper(arithmetic, layout)) +
         "_null";
}

cublasStatus_t LaunchProduct(const Product& product, cudaStream_t stream) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const dim3 grid(
      Tiles(product.m), Tiles(product.n),
      static_cast<unsigned>(std::min<int64_t>(product.batch, 65535)));
  return ToCublas(LaunchOfLibrary(ProductName(product), grid, dim3(256), stream,
                                  product.accesses, WorkOf(product)));
}

cublasStatus_t ToCublas(cudaError_t error) {
  if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
  return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                            : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace null_gpu
