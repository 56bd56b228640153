// SPDX-License-Identifier: MIT
// Matrix products of cuBLAS as kernels with their arithmetic in their names.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_API_PRODUCT_H_
#define TRAINBENCH_TOOLS_NULL_GPU_API_PRODUCT_H_

#include <cublas_v2.h>

#include <cstdint>
#include <string>

#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

struct Product {
  // The arithmetic: the operands' type, and how sums are computed.
  cudaDataType type = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;

  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  int64_t m = 1, n = 1, k = 1, batch = 1;

  Accesses accesses = {};     // of its operands
  bool tf32_allowed = false;  // by the math mode of the handle
};

// Returns the name as cuBLAS spells it on this kind of device, with a made-up
// tile and "_null" at the end.
std::string ProductName(const Product& product);

// Returns success, or why the kernel could not be enqueued.
cublasStatus_t LaunchProduct(const Product& product, cudaStream_t stream);

cublasStatus_t ToCublas(cudaError_t error);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_API_PRODUCT_H_
