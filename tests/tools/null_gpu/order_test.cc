// SPDX-License-Identifier: MIT
// Planted ordering bugs, and the fix for each.

#include <cuda.h>
#include <nccl.h>

#include <array>
#include <bit>
#include <functional>
#include <string>

#include "tests/tools/null_gpu/fixture.h"

namespace null_gpu {
namespace {

class OrderTest : public NullGpuTest {
 protected:
  static constexpr size_t kBytes = 1024;
  static constexpr char kUnordered[] =
      " on stream .* memory that .* on stream ";

  void SetUp() override {
    NullGpuTest::SetUp();
    Set(&Settings::order, true);
    blocking_ = BlockingStream();
    one_ = NonBlockingStream();
    two_ = NonBlockingStream();
    event_ = NewEvent();
    memory_ = Allocated(kBytes);
    other_ = Allocated(kBytes);
  }

  void Fill(cudaStream_t stream, size_t offset = 0, size_t bytes = kBytes) {
    ASSERT_EQ(
        cudaMemsetAsync(static_cast<char*>(memory_) + offset, 0, bytes, stream),
        cudaSuccess);
  }
  void Read(cudaStream_t stream) {
    ASSERT_EQ(cudaMemcpyAsync(other_, memory_, kBytes, cudaMemcpyDeviceToDevice,
                              stream),
              cudaSuccess);
  }
  // Launches a kernel that takes a number and a structure with a pointer.
  cudaError_t LaunchWithPointer(cudaStream_t stream) {
    static const KernelNeeds needs = {.arguments = {4, 16}};
    NamedKernel("with_pointer")->needs = &needs;
    int number = 7;
    std::array<void*, 2> structure = {nullptr, memory_};
    std::array<void*, 2> arguments = {&number, &structure};
    return LaunchKernel(NamedKernel("with_pointer"), dim3(1), dim3(1),
                        arguments.data(), 0, stream);
  }
  cudaStream_t blocking_ = nullptr, one_ = nullptr, two_ = nullptr;
  cudaEvent_t event_ = nullptr;
  void *memory_ = nullptr, *other_ = nullptr;
};
using OrderDeathTest = OrderTest;

TEST_F(OrderDeathTest, StreamsThatTouchTheSameMemoryMustBeInOrder) {
  Fill(one_);
  EXPECT_DEATH(Read(two_), "a copy.* reads memory that a fill.* writes");
  EXPECT_DEATH(Fill(two_, 1000, 8), kUnordered);
  Fill(one_, 1016, 8);
  EXPECT_DEATH(Read(nullptr), kUnordered);
  EXPECT_EQ(Counted("accesses"), 2);
}

TEST_F(OrderDeathTest, AReadMustBeOverBeforeAWrite) {
  Read(one_);
  EXPECT_DEATH(Fill(two_), "a fill.* writes memory that a copy.* reads");
}

TEST_F(OrderTest, ReadsAndOtherBytesNeedNoOrder) {
  Fill(one_, 0, 512);
  Fill(two_, 512, 512);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (cudaStream_t stream : {one_, two_}) {
    ASSERT_EQ(cudaMemcpyAsync(nullptr, memory_, kBytes,
                              cudaMemcpyDeviceToDevice, stream),
              cudaSuccess);
  }
}

TEST_F(OrderTest, EachKindOfWaitOrders) {
  void* idle = nullptr;
  ASSERT_EQ(cudaMalloc(&idle, kBytes), cudaSuccess);
  const auto ended = [](cudaError_t status) { return status == cudaSuccess; };
  const std::function<void()> waits[] = {
      [&] { Wait(two_, one_); },
      [&] { ASSERT_EQ(cudaStreamSynchronize(one_), cudaSuccess); },
      [&] { ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess); },
      [&] {
        while (!ended(cudaStreamQuery(one_))) continue;
      },
      [&] {
        ASSERT_EQ(cudaEventRecord(event_, one_), cudaSuccess);
        ASSERT_EQ(cudaEventSynchronize(event_), cudaSuccess);
      },
      [&] {
        ASSERT_EQ(cudaEventRecord(event_, one_), cudaSuccess);
        while (!ended(cudaEventQuery(event_))) continue;
      },
      [&] { ASSERT_EQ(cudaFree(idle), cudaSuccess); },
  };
  for (const auto& wait : waits) {
    Fill(one_);
    wait();
    Fill(two_);
    Wait(one_, two_);
  }
}

TEST_F(OrderDeathTest, AnEventOrdersWhatCameBeforeIt) {
  ASSERT_EQ(cudaEventRecord(event_, one_), cudaSuccess);
  Fill(one_);
  ASSERT_EQ(cudaStreamWaitEvent(two_, event_, 0), cudaSuccess);
  EXPECT_DEATH(Fill(two_), kUnordered);
}

TEST_F(OrderDeathTest, TheLegacyStreamOrdersBlockingStreams) {
  Fill(blocking_);
  Fill(nullptr);
  Fill(blocking_);
  EXPECT_DEATH(Fill(one_), kUnordered);
}

// The copy to the staging buffer is over; the copy to the device may not be.
TEST_F(OrderDeathTest, ACopyFromPageableMemoryMayStillBeOnItsWay) {
  const std::string bytes(kBytes, 'x');
  ASSERT_EQ(cudaMemcpy(memory_, bytes.data(), kBytes, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_DEATH(Fill(one_), kUnordered);
}

TEST_F(OrderDeathTest, ArgumentsOfKernelsPointToWhatTheyTouch) {
  ASSERT_EQ(LaunchWithPointer(one_), cudaSuccess);
  EXPECT_DEATH(Read(two_), "a copy.* reads .* with_pointer on stream");
  Wait(two_, one_);
  Read(two_);
}

TEST_F(OrderDeathTest, CollectivesTouchTheirBuffers) {
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, ncclUniqueId(), 1, nullptr),
            ncclSuccess);
  Fill(one_);
  const auto gather = [&] {
    return ncclAllGather(other_, memory_, kBytes / 2, ncclInt8, comm, two_);
  };
  EXPECT_DEATH(gather(), "ncclDevKernel_AllGather.* writes memory");
  Wait(two_, one_);
  EXPECT_EQ(gather(), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST_F(OrderDeathTest, NodesOfAGraphMustBeInOrder) {
  const auto forked = [&](bool in_order) {
    return Captured(one_, [&] {
      Wait(two_, one_);
      Fill(one_);
      if (in_order) Wait(two_, one_);
      Read(two_);
      Wait(one_, two_);
    });
  };
  EXPECT_DEATH(forked(false), "a copy in a graph reads memory that a fill");
  cudaGraphExec_t exec = forked(true);
  Fill(two_);
  EXPECT_DEATH(cudaGraphLaunch(exec, one_), kUnordered);
  Wait(one_, two_);
  EXPECT_EQ(cudaGraphLaunch(exec, one_), cudaSuccess);
  EXPECT_DEATH(Fill(two_), kUnordered);
}

TEST_F(OrderDeathTest, UnmappingComesAfterTheLastReader) {
  constexpr size_t kPage = size_t{2} << 20;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  CUmemAllocationProp properties = {};
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  ASSERT_EQ(cuMemAddressReserve(&address, kPage, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemCreate(&handle, kPage, &properties, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(address, kPage, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(cudaMemsetAsync(std::bit_cast<void*>(address), 0, kPage, one_),
            cudaSuccess);
  EXPECT_DEATH(cuMemUnmap(address, kPage), "freed that a fill.* writes");
  ASSERT_EQ(cudaStreamSynchronize(one_), cudaSuccess);
  EXPECT_EQ(cuMemUnmap(address, kPage), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(address, kPage), CUDA_SUCCESS);
}

}  // namespace
}  // namespace null_gpu
