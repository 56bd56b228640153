// SPDX-License-Identifier: MIT
// The part of cuBLASLt that LibTorch uses.

#include <cublasLt.h>

#include <cstring>
#include <utility>

#include "tools/null_gpu/api/product.h"
#include "tools/null_gpu/streams/call.h"

using null_gpu::Ask;
using null_gpu::Product;
using null_gpu::ReadOf;
using null_gpu::WriteOf;

namespace {

struct Description {
  cublasComputeType_t compute;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
};

struct Layout {
  cudaDataType type;
  uint64_t rows, columns;
  int32_t batch = 1;
};

// Fails if the size of the buffer is not the attribute's.
template <typename Value>
cublasStatus_t Read(Value& value, const void* buffer, size_t bytes) {
  if (bytes != sizeof(value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, buffer, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Multiply(const Description& description, const Layout& a,
                        const Layout& d, null_gpu::Accesses accesses,
                        cudaStream_t stream) {
  Product product;
  product.accesses = std::move(accesses);
  product.a = a.type;
  product.compute = description.compute;
  product.transpose_a = description.a != CUBLAS_OP_N;
  product.transpose_b = description.b != CUBLAS_OP_N;
  product.m = static_cast<int64_t>(d.rows);
  product.n = static_cast<int64_t>(d.columns);
  product.k = static_cast<int64_t>(product.transpose_a ? a.rows : a.columns);
  product.batch = d.batch;
  return LaunchProduct(product, stream);
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute,
                                        cudaDataType) {
  return Ask<"cublasLtMatmulDescCreate">([&] {
    *description =
        reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute});
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return Ask<"cublasLtMatmulDescDestroy">([&] {
    delete reinterpret_cast<Description*>(description);
    return CUBLAS_STATUS_SUCCESS;
  });
}

// Epilogues, scales and pointers do not change the kernels' names or number.
cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute,
    const void* buffer, size_t bytes) {
  return Ask<"cublasLtMatmulDescSetAttribute">([&] {
    auto* const description = reinterpret_cast<Description*>(handle);
    switch (attribute) {
      case CUBLASLT_MATMUL_DESC_TRANSA:
        return Read(description->a, buffer, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSB:
        return Read(description->b, buffer, bytes);
      default:
        return CUBLAS_STATUS_SUCCESS;
    }
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t) {
  return Ask<"cublasLtMatrixLayoutCreate">([&] {
    *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
        new Layout{type, rows, columns});
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return Ask<"cublasLtMatrixLayoutDestroy">([&] {
    delete reinterpret_cast<Layout*>(layout);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute,
    const void* buffer, size_t bytes) {
  return Ask<"cublasLtMatrixLayoutSetAttribute">([&] {
    if (attribute != CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
      return CUBLAS_STATUS_SUCCESS;
    }
    return Read(reinterpret_cast<Layout*>(handle)->batch, buffer, bytes);
  });
}

// One algorithm fits everything and needs no workspace.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int wanted,
    cublasLtMatmulHeuristicResult_t results[], int* found) {
  return Ask<"cublasLtMatmulAlgoGetHeuristic">([&] {
    *found = 0;
    if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t, cublasLtMatmulDesc_t description, const void*,
    const void* x, cublasLtMatrixLayout_t a, const void* y,
    cublasLtMatrixLayout_t, const void*, const void* c, cublasLtMatrixLayout_t,
    void* z, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t*, void*,
    size_t, cudaStream_t stream) {
  return Ask<"cublasLtMatmul">([&] {
    return Multiply(*reinterpret_cast<Description*>(description),
                    *reinterpret_cast<Layout*>(a),
                    *reinterpret_cast<Layout*>(d),
                    {ReadOf(x), ReadOf(y), ReadOf(c), WriteOf(z)}, stream);
  });
}

}  // extern "C"
