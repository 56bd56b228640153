// SPDX-License-Identifier: MIT

#include "tools/null_gpu/api/product.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/launch.h"

namespace null_gpu {
namespace {

constexpr int64_t kTile = 128;

Arithmetic ArithmeticOf(const Product& product) {
  switch (product.type) {
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

// The name of a kernel by its arithmetic, on Ampere and on later chips.
struct KernelNames {
  Arithmetic arithmetic;
  const char *on_ampere, *later;
};
constexpr KernelNames kNames[] = {
    {Arithmetic::kFp32, "ampere_sgemm_128x128_<layout>",
     "<chip>_xmma_gemm_f32f32_f32f32_f32_<layout>_n_tilesize128x128x8_stage3_"
     "warpsize2x2x1_ffma_execute_kernel"},
    {Arithmetic::kTf32, "ampere_sgemm_tf32_128x128_<layout>",
     "<chip>_xmma_gemm_f32f32_tf32f32_f32_<layout>_n_tilesize128x128x32_"
     "warpgroupsize1x1x1_execute_kernel"},
    {Arithmetic::kBf16,
     "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_<layout>",
     "nvjet_<chip>_tst_128x128_64x6_1x2_h_bz_<layout>"},
    {Arithmetic::kFp16,
     "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_<layout>",
     "nvjet_<chip>_hsh_128x128_64x6_1x2_h_bz_<layout>"},
    {Arithmetic::kFp64, "dgemm_128x64_<layout>", "dgemm_128x64_<layout>"},
    {Arithmetic::kOther, "gemm_of_type_<type>_<layout>",
     "gemm_of_type_<type>_<layout>"},
};

void Replace(std::string& text, std::string_view part, const std::string& by) {
  const size_t at = text.find(part);
  if (at != std::string::npos) text.replace(at, part.size(), by);
}

unsigned Tiles(int64_t size) {
  return static_cast<unsigned>(
      std::clamp<int64_t>((size + kTile - 1) / kTile, 1, 65535));
}

Work WorkOf(const Product& product) {
  const double width = product.type == CUDA_R_16BF || product.type == CUDA_R_16F
                           ? 2
                       : product.type == CUDA_R_64F ? 8
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
  const int generation = GetSettings().profile->major;
  const auto* const found = std::find_if(
      std::begin(kNames), std::end(kNames), [&](const KernelNames& entry) {
        return entry.arithmetic == ArithmeticOf(product);
      });
  if (found == std::end(kNames)) Die("a product's arithmetic has no kernel");
  const KernelNames& names = *found;
  std::string name = generation < 9 ? names.on_ampere : names.later;
  Replace(name, "<chip>", "sm" + std::to_string(generation) + "0");
  Replace(name, "<type>", std::to_string(product.type));
  Replace(name, "<layout>",
          std::string(product.a != CUBLAS_OP_N ? "t" : "n") +
              (product.b != CUBLAS_OP_N ? "t" : "n"));
  return name + "_null";
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
