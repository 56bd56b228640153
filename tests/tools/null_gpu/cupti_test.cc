// SPDX-License-Identifier: MIT

#include <cupti.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/tools/null_gpu/fixture.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

constexpr size_t kBufferBytes = 8192;  // for a few records

// The buffers that were returned, in order.
std::vector<std::vector<uint8_t>>& Completed() {
  static auto* const buffers = new std::vector<std::vector<uint8_t>>;
  return *buffers;
}

void Request(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::malloc(kBufferBytes));
  *bytes = kBufferBytes;
  *most_records = 0;
}

void Complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Completed().emplace_back(buffer, buffer + valid);
  std::free(buffer);
}

constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMSET,
                               CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_DRIVER,
                               CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

class CuptiTest : public NullGpuTest {
 protected:
  void SetUp() override {
    NullGpuTest::SetUp();
    Completed().clear();
    cuptiActivityRegisterCallbacks(&Request, &Complete);
    for (const auto kind : kKinds) cuptiActivityEnable(kind);
    AtEnd([] {
      for (const auto kind : kKinds) cuptiActivityDisable(kind);
      cuptiActivityFlushAll(0);
    });
  }

  // Returns all records of a kind.
  template <typename Record>
  static std::vector<Record> Records(CUpti_ActivityKind kind) {
    cuptiActivityFlushAll(0);
    std::vector<Record> records;
    for (std::vector<uint8_t>& buffer : Completed()) {
      CUpti_Activity* next = nullptr;
      while (cuptiActivityGetNextRecord(buffer.data(), buffer.size(), &next) ==
             CUPTI_SUCCESS) {
        if (next->kind != kind) continue;
        Record record;
        std::memcpy(&record, next, sizeof(record));
        records.push_back(record);
      }
    }
    return records;
  }
  static std::vector<CUpti_ActivityKernel10> Kernels() {
    return Records<CUpti_ActivityKernel10>(
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  }
  static std::vector<CUpti_ActivityAPI> Calls() {
    return Records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  }
};

TEST_F(CuptiTest, ALaunchIsACallAndAKernelOfOneCorrelation) {
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  const auto calls = Calls();
  const auto kernels = Kernels();
  ASSERT_EQ(calls.size(), 1);
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(calls[0].cbid, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  EXPECT_EQ(calls[0].correlationId, kernels[0].correlationId);
  EXPECT_LE(calls[0].start, calls[0].end);
  EXPECT_GE(kernels[0].start, calls[0].start);
  EXPECT_LT(kernels[0].start, kernels[0].end);
  EXPECT_STREQ(kernels[0].name, "_Z6kernelv");
  EXPECT_EQ(kernels[0].blockX, 32);
  EXPECT_EQ(kernels[0].streamId, 7);
  EXPECT_EQ(kernels[0].graphId, 0);
}

TEST_F(CuptiTest, WhatALibraryCompilesTheDriverLaunches) {
  for (const char* name :
       {"nvjet_null", "cudnn_generated_null", "sgemm_null"}) {
    ASSERT_EQ(LaunchOfLibrary(name, dim3(1), dim3(32), nullptr), cudaSuccess);
  }
  const auto launches = Records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  const auto kernels = Kernels();
  ASSERT_EQ(launches.size(), 2);
  ASSERT_EQ(kernels.size(), 3);
  EXPECT_EQ(launches[1].cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
  EXPECT_EQ(launches[1].correlationId, kernels[1].correlationId);
  EXPECT_EQ(Calls().at(0).correlationId, kernels[2].correlationId);
}

TEST_F(CuptiTest, KernelsOfAStreamFollowEachOther) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Launch(nullptr), cudaSuccess);
  const auto kernels = Kernels();
  ASSERT_EQ(kernels.size(), 3);
  EXPECT_LE(kernels[0].end, kernels[1].start);
  EXPECT_LE(kernels[1].end, kernels[2].start);
}

TEST_F(CuptiTest, TheInnermostExternalIdComesBeforeItsCall) {
  constexpr auto kKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  cuptiActivityPushExternalCorrelationId(kKind, 5);
  cuptiActivityPushExternalCorrelationId(kKind, 6);
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  uint64_t id = 0;
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(kKind, &id), CUPTI_SUCCESS);
  EXPECT_EQ(id, 6);
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(kKind, &id), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(kKind, &id),
            CUPTI_ERROR_QUEUE_EMPTY);
  const auto ids = Records<CUpti_ActivityExternalCorrelation>(
      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  ASSERT_EQ(ids.size(), 1);
  EXPECT_EQ(ids[0].externalId, 6);
  EXPECT_EQ(ids[0].correlationId, Calls().at(0).correlationId);
}

TEST_F(CuptiTest, CopiesSayTheirBytesAndDirection) {
  void* const device = Allocated(4096);
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 4096, 0), cudaSuccess);
  int pageable = 0;
  ASSERT_EQ(cudaMemcpyAsync(device, pinned, 100, cudaMemcpyDefault, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&pageable, device, sizeof(pageable),
                            cudaMemcpyDefault, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 0, 300, nullptr), cudaSuccess);
  const auto copies =
      Records<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_EQ(copies.size(), 2);
  EXPECT_EQ(copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[0].srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  EXPECT_EQ(copies[0].bytes, 100);
  EXPECT_EQ(copies[1].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[1].dstKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  const auto fills = Records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_EQ(fills.size(), 1);
  EXPECT_EQ(fills[0].bytes, 300);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(CuptiTest, KernelsOfAGraphNameIt) {
  const cudaStream_t stream = NonBlockingStream();
  const cudaGraphExec_t exec = Captured(stream, [&] {
    ASSERT_EQ(Launch(stream), cudaSuccess);
    ASSERT_EQ(Launch(stream), cudaSuccess);
  });
  EXPECT_TRUE(Kernels().empty());
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  const auto kernels = Kernels();
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_NE(kernels[0].graphId, 0);
  EXPECT_EQ(kernels[0].graphId, kernels[1].graphId);
  EXPECT_NE(kernels[0].graphNodeId, kernels[1].graphNodeId);
  EXPECT_EQ(kernels[0].correlationId, kernels[1].correlationId);
  EXPECT_NE(kernels[0].streamId, 7);
}

TEST_F(CuptiTest, FullBuffersComeBackAndNothingIsLost) {
  constexpr size_t kMany = 200;
  for (size_t i = 0; i < kMany; ++i) ASSERT_EQ(Launch(nullptr), cudaSuccess);
  EXPECT_EQ(Kernels().size(), kMany);
  EXPECT_EQ(Calls().size(), kMany);
  EXPECT_GT(Completed().size(), 2);
}

// A clock far from the default one.
uint64_t Ticks() {
  static std::atomic<uint64_t> now{0};
  return now += 10;
}

TEST_F(CuptiTest, EachRegistrationOfAClockSpoilsOneKernelMore) {
  const cudaStream_t stream = BlockingStream();
  const auto is_spoiled = [](const CUpti_ActivityKernel10& kernel) {
    return kernel.start > 1'000'000'000'000'000;
  };
  std::vector<std::ptrdiff_t> spoiled;
  for (int session = 0; session < 3; ++session) {
    Completed().clear();
    cuptiActivityRegisterTimestampCallback(&Ticks);
    for (int i = 0; i < 50; ++i) ASSERT_EQ(Launch(stream), cudaSuccess);
    const auto kernels = Kernels();
    EXPECT_TRUE(
        std::is_partitioned(kernels.begin(), kernels.end(), is_spoiled));
    spoiled.push_back(
        std::count_if(kernels.begin(), kernels.end(), is_spoiled));
  }
  cuptiActivityRegisterTimestampCallback(nullptr);
  EXPECT_EQ(spoiled[1], spoiled[0] + 1);
  EXPECT_EQ(spoiled[2], spoiled[0] + 2);
}

// A clock of 4 ticks per nanosecond.
uint64_t FastTicks() { return 4 * static_cast<uint64_t>(NowNs()); }

TEST_F(CuptiTest, TheDelayIsInNanosecondsOfAnyClock) {
  const cudaStream_t stream = BlockingStream();
  cuptiActivityRegisterTimestampCallback(&FastTicks);
  Set(&Settings::skew_ns, 1'000'000'000);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Launch(stream), cudaSuccess);
  cuptiActivityRegisterTimestampCallback(nullptr);
  // The last kernel's times are not spoiled.
  EXPECT_GT(Kernels().back().start - Calls().back().start, 3'600'000'000);
}

TEST_F(CuptiTest, CallsAndKindsCanBeSwitchedOff) {
  cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                                0);
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                                1);
  const auto calls = Calls();
  ASSERT_EQ(calls.size(), 1);
  EXPECT_EQ(calls[0].cbid,
            CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
  for (const auto kind : kKinds) cuptiActivityDisable(kind);
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  EXPECT_EQ(Kernels().size(), 1);
}

}  // namespace
}  // namespace null_gpu
