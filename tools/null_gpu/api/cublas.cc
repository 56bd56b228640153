// SPDX-License-Identifier: MIT
// The part of cuBLAS that training uses. Other functions are in succeeds.txt or
// end the process.

#include <cublas_v2.h>

#include <string>
#include <utility>

#include "tools/null_gpu/api/product.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};

namespace null_gpu {
namespace {

Accesses Operands(const void* a, const void* b, void* c) {
  return {ReadOf(a), ReadOf(b), WriteOf(c)};
}

cublasStatus_t Multiply(cublasHandle_t handle, Product product) {
  // The mode may also contain flags.
  constexpr int kModes = 0xF;
  product.tf32_allowed =
      (handle->math_mode & kModes) == CUBLAS_TF32_TENSOR_OP_MATH;
  return LaunchProduct(product, handle->stream);
}

// Launches a product of vectors, which does not use tensor cores.
cublasStatus_t Reduce(cublasHandle_t handle, const std::string& name,
                      Accesses operands) {
  return ToCublas(LaunchOfLibrary(name + "_null", dim3(1), dim3(128),
                                  handle->stream, std::move(operands)));
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return Ask([&] { *handle = new cublasContext; });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return Ask([&] { delete handle; });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return Ask([&] { handle->stream = stream; });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return Ask([&] { handle->math_mode = mode; });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return Ask([&] { *mode = handle->math_mode; });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                       cublasPointerMode_t mode) {
  return Ask([&] { handle->pointer_mode = mode; });
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                       cublasPointerMode_t* mode) {
  return Ask([&] { *mode = handle->pointer_mode; });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a,
                            cublasOperation_t b, int m, int n, int k,
                            const void*, const void* x, cudaDataType type, int,
                            const void* y, cudaDataType, int, const void*,
                            void* z, cudaDataType, int,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return Ask([&] {
    return Multiply(handle,
                    {type, compute, a, b, m, n, k, 1, Operands(x, y, z)});
  });
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m,
    int n, int k, const void*, const void* x, cudaDataType type, int, long long,
    const void* y, cudaDataType, int, long long, const void*, void* z,
    cudaDataType, int, long long, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return Ask([&] {
    return Multiply(handle,
                    {type, compute, a, b, m, n, k, batch, Operands(x, y, z)});
  });
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int, const void* x,
                           cudaDataType, int, const void* y, cudaDataType, int,
                           void* sum, cudaDataType, cudaDataType) {
  return Ask([&] { return Reduce(handle, "dot", Operands(x, y, sum)); });
}

// The functions for one type, with its letter in their names.
// NOLINTBEGIN(bugprone-macro-parentheses): types cannot be in parentheses.
#define NULL_GPU_CUBLAS(Letter, letter, Real, type)                            \
  cublasStatus_t cublas##Letter##gemm_v2(                                      \
      cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m,  \
      int n, int k, const Real*, const Real* x, int, const Real* y, int,       \
      const Real*, Real* z, int) {                                             \
    return Ask([&] {                                                           \
      return Multiply(handle, {type, CUBLAS_COMPUTE_32F, a, b, m, n, k, 1,     \
                               Operands(x, y, z)});                            \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublas##Letter##gemmStridedBatched(                           \
      cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m,  \
      int n, int k, const Real*, const Real* x, int, long long, const Real* y, \
      int, long long, const Real*, Real* z, int, long long, int batch) {       \
    return Ask([&] {                                                           \
      return Multiply(handle, {type, CUBLAS_COMPUTE_32F, a, b, m, n, k, batch, \
                               Operands(x, y, z)});                            \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublas##Letter##gemv_v2(                                      \
      cublasHandle_t handle, cublasOperation_t, int, int, const Real*,         \
      const Real* a, int, const Real* x, int, const Real*, Real* y, int) {     \
    return Ask(                                                                \
        [&] { return Reduce(handle, #letter "gemv", Operands(a, x, y)); });    \
  }                                                                            \
  cublasStatus_t cublas##Letter##dot_v2(cublasHandle_t handle, int,            \
                                        const Real* x, int, const Real* y,     \
                                        int, Real* sum) {                      \
    return Ask(                                                                \
        [&] { return Reduce(handle, #letter "dot", Operands(x, y, sum)); });   \
  }
NULL_GPU_CUBLAS(S, s, float, CUDA_R_32F)
NULL_GPU_CUBLAS(D, d, double, CUDA_R_64F)
#undef NULL_GPU_CUBLAS
// NOLINTEND(bugprone-macro-parentheses)

}  // extern "C"
}  // namespace null_gpu
