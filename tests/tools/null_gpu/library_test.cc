// SPDX-License-Identifier: MIT

#include <cublasLt.h>
#include <cublas_v2.h>
#include <gmock/gmock.h>
#include <nccl.h>

#include <string>
#include <vector>

#include "tests/tools/null_gpu/fixture.h"

namespace null_gpu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class LibraryTest : public NullGpuTest {
 protected:
  // Returns the kernels launched since the last reset.
  static std::vector<std::string> Launched() {
    std::vector<std::string> names;
    for (const Kernel* kernel : AllKernels()) {
      for (uint64_t i = 0; i < kernel->launches.SinceReset(); ++i) {
        names.emplace_back(kernel->name);
      }
    }
    ResetCounters();
    return names;
  }
};

class CublasTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    AtEnd([this] { EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS); });
  }
  cublasStatus_t Multiply(cudaDataType type) {
    return cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, 8, 8, 8, nullptr,
                        nullptr, type, 8, nullptr, type, 8, nullptr, nullptr,
                        type, 8, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
  cublasHandle_t handle_ = nullptr;
};

TEST_F(CublasTest, KernelsNameTheirArithmetic) {
  ASSERT_EQ(Multiply(CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(Launched(),
              ElementsAre(AllOf(HasSubstr("f32f32_f32f32_f32_tn_"),
                                EndsWith("_null"))));  // no real kernel's name
  ASSERT_EQ(cublasSetMathMode(handle_, CUBLAS_TF32_TENSOR_OP_MATH),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(Multiply(CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(Launched(), ElementsAre(HasSubstr("_tf32f32_")));
  ASSERT_EQ(Multiply(CUDA_R_16BF), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(Launched(), ElementsAre(HasSubstr("nvjet_sm90_tst_")));
  ASSERT_EQ(Multiply(CUDA_R_16F), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(Launched(), ElementsAre(HasSubstr("nvjet_sm90_hsh_")));
}

TEST_F(CublasTest, AFailedLaunchFailsTheProduct) {
  SetFaults("launch:1=launch_failure");
  EXPECT_EQ(Multiply(CUDA_R_32F), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(CublasTest, ProductsRunOnTheStreamOfTheHandle) {
  const cudaStream_t stream = NonBlockingStream();
  ASSERT_EQ(cublasSetStream(handle_, stream), CUBLAS_STATUS_SUCCESS);
  Captured(stream,
           [&] { ASSERT_EQ(Multiply(CUDA_R_32F), CUBLAS_STATUS_SUCCESS); });
  EXPECT_EQ(Counted("graph_nodes"), 1);
}

TEST_F(LibraryTest, CublasLtNamesTheArithmeticOfItsDescription) {
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 8, 8, 8),
            CUBLAS_STATUS_SUCCESS);
  for (const auto& [compute, part] :
       {std::pair(CUBLAS_COMPUTE_32F, "_f32f32_f32_nt_"),
        std::pair(CUBLAS_COMPUTE_32F_FAST_TF32, "_tf32f32_f32_nt_")}) {
    cublasLtMatmulDesc_t description = nullptr;
    ASSERT_EQ(cublasLtMatmulDescCreate(&description, compute, CUDA_R_32F),
              CUBLAS_STATUS_SUCCESS);
    const cublasOperation_t transpose = CUBLAS_OP_T;
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSB,
                                       &transpose, sizeof(transpose)),
        CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmul(nullptr, description, nullptr, nullptr, layout,
                             nullptr, layout, nullptr, nullptr, layout, nullptr,
                             layout, nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_THAT(Launched(), ElementsAre(HasSubstr(part)));
    EXPECT_EQ(cublasLtMatmulDescDestroy(description), CUBLAS_STATUS_SUCCESS);
  }
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_SUCCESS);
}

class NcclTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ASSERT_EQ(ncclCommInitRankConfig(&comm_, 8, id, 3, nullptr), ncclSuccess);
    AtEnd([this] { EXPECT_EQ(ncclCommDestroy(comm_), ncclSuccess); });
    stream_ = NonBlockingStream();
  }
  ncclResult_t AllReduce() {
    return ncclAllReduce(nullptr, nullptr, 100, ncclBfloat16, ncclSum, comm_,
                         stream_);
  }
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(NcclTest, ACollectiveIsAKernelAndMovesNothing) {
  ASSERT_EQ(AllReduce(), ncclSuccess);
  EXPECT_EQ(Counted("collectives"), 1);
  EXPECT_EQ(Counted("collective_bytes"), 200);
  EXPECT_THAT(Launched(),
              ElementsAre("ncclDevKernel_AllReduce_Sum_bf16_RING_LL_null"));
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
}

TEST_F(NcclTest, AnAllGatherCountsTheWholeTensor) {
  ASSERT_EQ(ncclAllGather(nullptr, nullptr, 25, ncclBfloat16, comm_, stream_),
            ncclSuccess);
  EXPECT_EQ(Counted("collective_bytes"), 400);
}

TEST_F(NcclTest, AGroupIsOneKernel) {
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ASSERT_EQ(AllReduce(), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  ASSERT_EQ(AllReduce(), ncclSuccess);
  EXPECT_EQ(Counted("launches"), 0);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(Counted("launches"), 1);
  EXPECT_EQ(Counted("collective_bytes"), 400);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

}  // namespace
}  // namespace null_gpu
