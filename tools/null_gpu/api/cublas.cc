// SPDX-License-Identifier: MIT
// The part of cuBLAS that training uses. Other functions are in succeeds.txt or
// end the process.

#include <cublas_v2.h>

#include <string>

#include "tools/null_gpu/api/product.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

using null_gpu::Ask;
using null_gpu::Product;
using null_gpu::ReadOf;
using null_gpu::WriteOf;

namespace {

struct Handle {
  cudaStream_t stream = nullptr;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};

Handle& Of(cublasHandle_t handle) { return *reinterpret_cast<Handle*>(handle); }

struct Shape {
  cublasOperation_t a, b;
  int m, n, k, batch;
};

struct Operands {
  const void *a, *b;
  void* c;
};

cublasStatus_t Multiply(cublasHandle_t handle, const Shape& shape,
                        const Operands& operands, cudaDataType type,
                        cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
  Product product;
  product.a = type;
  product.compute = compute;
  // The mode may also contain flags.
  constexpr int kModes = 0xF;
  product.tf32_allowed =
      (Of(handle).math_mode & kModes) == CUBLAS_TF32_TENSOR_OP_MATH;
  product.transpose_a = shape.a != CUBLAS_OP_N;
  product.transpose_b = shape.b != CUBLAS_OP_N;
  product.m = shape.m;
  product.n = shape.n;
  product.k = shape.k;
  product.batch = shape.batch;
  product.accesses = {ReadOf(operands.a), ReadOf(operands.b),
                      WriteOf(operands.c)};
  return LaunchProduct(product, Of(handle).stream);
}

// Launches a product of vectors, which does not use tensor cores.
cublasStatus_t Reduce(cublasHandle_t handle, const std::string& name,
                      const Operands& operands) {
  return null_gpu::ToCublas(null_gpu::LaunchOfLibrary(
      name + "_null", dim3(1), dim3(128), Of(handle).stream,
      {ReadOf(operands.a), ReadOf(operands.b), WriteOf(operands.c)}));
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return Ask<"cublasCreate_v2">([&] {
    *handle = reinterpret_cast<cublasHandle_t>(new Handle);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return Ask<"cublasDestroy_v2">([&] {
    delete &Of(handle);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return Ask<"cublasSetStream_v2">([&] {
    Of(handle).stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return Ask<"cublasSetMathMode">([&] {
    Of(handle).math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return Ask<"cublasGetMathMode">([&] {
    *mode = Of(handle).math_mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                       cublasPointerMode_t mode) {
  return Ask<"cublasSetPointerMode_v2">([&] {
    Of(handle).pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                       cublasPointerMode_t* mode) {
  return Ask<"cublasGetPointerMode_v2">([&] {
    *mode = Of(handle).pointer_mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a,
                            cublasOperation_t b, int m, int n, int k,
                            const void*, const void* x, cudaDataType type, int,
                            const void* y, cudaDataType, int, const void*,
                            void* z, cudaDataType, int,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return Ask<"cublasGemmEx">([&] {
    return Multiply(handle, {a, b, m, n, k, 1}, {x, y, z}, type, compute);
  });
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m,
    int n, int k, const void*, const void* x, cudaDataType type, int, long long,
    const void* y, cudaDataType, int, long long, const void*, void* z,
    cudaDataType, int, long long, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return Ask<"cublasGemmStridedBatchedEx">([&] {
    return Multiply(handle, {a, b, m, n, k, batch}, {x, y, z}, type, compute);
  });
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a,
                              cublasOperation_t b, int m, int n, int k,
                              const float*, const float* x, int, const float* y,
                              int, const float*, float* z, int) {
  return Ask<"cublasSgemm_v2">([&] {
    return Multiply(handle, {a, b, m, n, k, 1}, {x, y, z}, CUDA_R_32F);
  });
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t a,
                              cublasOperation_t b, int m, int n, int k,
                              const double*, const double* x, int,
                              const double* y, int, const double*, double* z,
                              int) {
  return Ask<"cublasDgemm_v2">([&] {
    return Multiply(handle, {a, b, m, n, k, 1}, {x, y, z}, CUDA_R_64F);
  });
}

cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m,
    int n, int k, const float*, const float* x, int, long long, const float* y,
    int, long long, const float*, float* z, int, long long, int batch) {
  return Ask<"cublasSgemmStridedBatched">([&] {
    return Multiply(handle, {a, b, m, n, k, batch}, {x, y, z}, CUDA_R_32F);
  });
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle,
                                         cublasOperation_t a,
                                         cublasOperation_t b, int m, int n,
                                         int k, const double*, const double* x,
                                         int, long long, const double* y, int,
                                         long long, const double*, double* z,
                                         int, long long, int batch) {
  return Ask<"cublasDgemmStridedBatched">([&] {
    return Multiply(handle, {a, b, m, n, k, batch}, {x, y, z}, CUDA_R_64F);
  });
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t, int,
                              int, const float*, const float* a, int,
                              const float* x, int, const float*, float* y,
                              int) {
  return Ask<"cublasSgemv_v2">([&] {
    return Reduce(handle, "sgemv", {a, x, y});
  });
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t, int,
                              int, const double*, const double* a, int,
                              const double* x, int, const double*, double* y,
                              int) {
  return Ask<"cublasDgemv_v2">([&] {
    return Reduce(handle, "dgemv", {a, x, y});
  });
}

cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int, const float* x, int,
                             const float* y, int, float* sum) {
  return Ask<"cublasSdot_v2">([&] {
    return Reduce(handle, "sdot", {x, y, sum});
  });
}

cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int, const double* x, int,
                             const double* y, int, double* sum) {
  return Ask<"cublasDdot_v2">([&] {
    return Reduce(handle, "ddot", {x, y, sum});
  });
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int, const void* x,
                           cudaDataType, int, const void* y, cudaDataType, int,
                           void* sum, cudaDataType, cudaDataType) {
  return Ask<"cublasDotEx">([&] { return Reduce(handle, "dot", {x, y, sum}); });
}

}  // extern "C"
