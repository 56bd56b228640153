// SPDX-License-Identifier: MIT
// The part of cuBLASLt that LibTorch uses.

#include <cublasLt.h>

#include <cstring>

#include "tools/null_gpu/api/product.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

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

// All but the sizes and operands.
Product& Of(cublasLtMatmulDesc_t handle) {
  return *reinterpret_cast<Product*>(handle);
}
Layout& Of(cublasLtMatrixLayout_t handle) {
  return *reinterpret_cast<Layout*>(handle);
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute,
                                        cudaDataType) {
  return Ask([&] {
    *description =
        reinterpret_cast<cublasLtMatmulDesc_t>(new Product{.compute = compute});
  });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return Ask([&] { delete &Of(description); });
}

// Epilogues, scales and pointers do not change the kernels' names or number.
cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute,
    const void* buffer, size_t bytes) {
  return Ask([&] {
    switch (attribute) {
      case CUBLASLT_MATMUL_DESC_TRANSA:
        return Read(Of(description).a, buffer, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSB:
        return Read(Of(description).b, buffer, bytes);
      default:
        return CUBLAS_STATUS_SUCCESS;
    }
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t) {
  return Ask([&] {
    *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
        new Layout{type, rows, columns});
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return Ask([&] { delete &Of(layout); });
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void* buffer, size_t bytes) {
  return Ask([&] {
    return attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
               ? Read(Of(layout).batch, buffer, bytes)
               : CUBLAS_STATUS_SUCCESS;
  });
}

// One algorithm fits everything and needs no workspace.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int wanted,
    cublasLtMatmulHeuristicResult_t results[], int* found) {
  return Ask([&] {
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
  return Ask([&] {
    Product product = Of(description);
    const bool is_transposed = product.a != CUBLAS_OP_N;
    product.type = Of(a).type;
    product.m = static_cast<int64_t>(Of(d).rows);
    product.n = static_cast<int64_t>(Of(d).columns);
    product.k =
        static_cast<int64_t>(is_transposed ? Of(a).rows : Of(a).columns);
    product.batch = Of(d).batch;
    product.accesses = {ReadOf(x), ReadOf(y), ReadOf(c), WriteOf(z)};
    return LaunchProduct(product, stream);
  });
}

}  // extern "C"
}  // namespace null_gpu
