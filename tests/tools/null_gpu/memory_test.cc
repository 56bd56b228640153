// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/memory.h"

#include <cuda.h>

#include <array>
#include <vector>

#include "tests/tools/null_gpu/fixture.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

constexpr size_t kGib = size_t{1} << 30;

class MemoryTest : public NullGpuTest {
 protected:
  static size_t Free() {
    size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  }
};

TEST_F(MemoryTest, AContextTakesSome) {
  EXPECT_EQ(Free(), GetSettings().profile->memory_bytes - kContextBytes);
}

TEST_F(MemoryTest, AllocatingFailsWhenTheDeviceIsFull) {
  const size_t free = Free();
  std::vector<void*> pointers;
  void* pointer = nullptr;
  while (cudaMalloc(&pointer, kGib) == cudaSuccess) pointers.push_back(pointer);
  EXPECT_EQ(pointers.size(), free / kGib);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(Free(), free % kGib);
  for (void* taken : pointers) EXPECT_EQ(cudaFree(taken), cudaSuccess);
  EXPECT_EQ(Free(), free);
  EXPECT_EQ(Counted("allocations"), pointers.size());
  EXPECT_EQ(Counted("frees"), pointers.size());
  EXPECT_GE(Counted("peak_device_bytes"), pointers.size() * kGib);
}

TEST_F(MemoryTest, AResetGivesBackWhatALostContextHolds) {
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, kGib), cudaSuccess);
  LoseContext(cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(pointer), cudaErrorIllegalAddress);
  EXPECT_GT(GetMemory().TakenBytes(), kGib);
  EXPECT_EQ(cudaDeviceReset(), cudaErrorIllegalAddress);
  EXPECT_EQ(GetMemory().TakenBytes(), 0U);
  EXPECT_EQ(cudaMalloc(&pointer, kGib), cudaErrorIllegalAddress);
}

TEST_F(MemoryTest, OnlyWhatWasAllocatedCanBeFreed) {
  int local = 0;
  EXPECT_EQ(cudaFree(&local), cudaErrorInvalidValue);
}

TEST_F(MemoryTest, PointersSayWhereTheyPoint) {
  void* const device = Allocated(4096);
  void* host = nullptr;
  ASSERT_EQ(cudaHostAlloc(&host, 4096, 0), cudaSuccess);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 5);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  cudaPointerGetAttributes(&attributes, host);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  cudaPointerGetAttributes(&attributes, &attributes);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(MemoryTest, ADeviceHoldsZeros) {
  void* const device = Allocated(4096);
  std::array<int, 4> words = {1, 2, 3, 4};
  constexpr size_t kBytes = sizeof(words);
  EXPECT_EQ(cudaMemcpy(device, words.data(), kBytes, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(words[0], 1);
  EXPECT_EQ(cudaMemset(device, 1, 100), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(words.data(), device, kBytes, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(words, (std::array<int, 4>{}));
  EXPECT_EQ(Counted("copies_h2d"), 1);
  EXPECT_EQ(Counted("copy_bytes_h2d"), kBytes);
  EXPECT_EQ(Counted("copies_d2h"), 1);
  EXPECT_EQ(Counted("fills"), 1);
  EXPECT_EQ(Counted("fill_bytes"), 100);
}

TEST_F(MemoryTest, ACopyInAnUnknownDirectionIsAnError) {
  void* const device = Allocated(4096);
  const auto unknown = static_cast<cudaMemcpyKind>(5);
  EXPECT_EQ(cudaMemcpy(device, &unknown, sizeof(unknown), unknown),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(device, device, 1, unknown, nullptr),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidMemcpyDirection),
               "invalid copy direction for memcpy");
}

// LibTorch's Reducer reads back in this way what it has sent by broadcast.
TEST_F(MemoryTest, ASmallCopyIsThereUntilTheNextKernel) {
  void* const device = Allocated(4096);
  const int sent = 7;
  int read = 0;
  const auto exchange = [&](Operation::Kind kind, bool is_collective) {
    EXPECT_EQ(cudaMemcpy(device, &sent, sizeof(sent), cudaMemcpyDefault),
              cudaSuccess);
    Operation operation;
    operation.kind = kind;
    operation.kernel = NamedKernel("between");
    operation.is_collective = is_collective;
    EXPECT_EQ(Enqueue(operation, nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&read, device, sizeof(read), cudaMemcpyDefault),
              cudaSuccess);
    return read;
  };
  EXPECT_EQ(exchange(Operation::Kind::kEmpty, false), sent);
  EXPECT_EQ(exchange(Operation::Kind::kKernel, true), sent);
  EXPECT_EQ(exchange(Operation::Kind::kKernel, false), 0);
}

class VirtualMemoryTest : public MemoryTest {
 protected:
  static CUmemAllocationProp Properties() {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    return properties;
  }
  static CUmemGenericAllocationHandle Create(size_t bytes) {
    const CUmemAllocationProp properties = Properties();
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, bytes, &properties, 0), CUDA_SUCCESS);
    return handle;
  }
};

TEST_F(VirtualMemoryTest, OnlyPhysicalMemoryIsTaken) {
  const size_t free = Free();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, 1024 * kGib, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(address % kPageBytes, 0);
  EXPECT_EQ(Free(), free);
  const auto handle = Create(10 * kPageBytes);
  EXPECT_EQ(Free(), free - 10 * kPageBytes);
  ASSERT_EQ(cuMemMap(address, 10 * kPageBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(Free(), free - 10 * kPageBytes);
  EXPECT_EQ(cuMemUnmap(address, 10 * kPageBytes), CUDA_SUCCESS);
  EXPECT_EQ(Free(), free);
  EXPECT_EQ(cuMemAddressFree(address, 1024 * kGib), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, RefusesWhatCudaRefuses) {
  const CUmemAllocationProp properties = Properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, 1000, &properties, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, 1024 * kGib, &properties, 0),
            CUDA_ERROR_OUT_OF_MEMORY);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, 4 * kPageBytes, 0, 0, 0),
            CUDA_SUCCESS);
  handle = Create(2 * kPageBytes);
  const size_t bytes = 2 * kPageBytes;
  EXPECT_EQ(cuMemMap(address + 3 * kPageBytes, bytes, 0, handle, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetAccess(address, bytes, nullptr, 0),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(address, bytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(address, bytes, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(address + kPageBytes, bytes, 0, handle, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(address, kPageBytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, 4 * kPageBytes),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(address, bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(address, 4 * kPageBytes), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, TheRuntimeFindsTheDriver) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function,
                                             12000, 0, &result),
            cudaErrorSymbolNotFound);
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
}

}  // namespace
}  // namespace null_gpu
