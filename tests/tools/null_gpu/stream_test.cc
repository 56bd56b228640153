// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/stream.h"

#include "tests/tools/null_gpu/fixture.h"

namespace null_gpu {
namespace {

class StreamTest : public NullGpuTest {
 protected:
  void SetUp() override {
    NullGpuTest::SetUp();
    stream_ = BlockingStream();
    other_ = NonBlockingStream();
    before_ = NewEvent();
    after_ = NewEvent();
  }

  // Enqueues a kernel that appears to run for `nanoseconds`.
  static void Run(cudaStream_t stream, int64_t nanoseconds) {
    Operation operation;
    operation.kind = Operation::Kind::kKernel;
    operation.kernel = NamedKernel("long");
    operation.nanoseconds = nanoseconds;
    ASSERT_EQ(Enqueue(operation, stream), cudaSuccess);
  }

  cudaStream_t stream_ = nullptr, other_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

// In ns. Longer than this process might wait for a busy core.
constexpr int64_t kLong = 2'000'000'000;

TEST_F(StreamTest, EventsTakeTheTimeOfTheWorkBetweenThem) {
  ASSERT_EQ(cudaEventRecord(before_, stream_), cudaSuccess);
  Run(stream_, kLong);
  ASSERT_EQ(cudaEventRecord(after_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(after_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_),
            cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(after_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(after_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, after_), cudaSuccess);
  EXPECT_GE(milliseconds, 2000.0F);
}

TEST_F(StreamTest, AStreamWaitsForTheEventOfAnother) {
  Run(stream_, kLong);
  ASSERT_EQ(cudaEventRecord(before_, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, before_, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
}

TEST_F(StreamTest, TheLegacyStreamWaitsForBlockingStreamsOnly) {
  Run(other_, kLong);
  ASSERT_EQ(cudaEventRecord(before_, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
  Run(stream_, kLong);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  ASSERT_EQ(cudaEventRecord(before_, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaErrorNotReady);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
}

TEST_F(StreamTest, AnEventThatWasNeverRecordedIsComplete) {
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before_, before_),
            cudaErrorInvalidResourceHandle);
}

TEST_F(StreamTest, AKernelThatNeverEndsHoldsItsStream) {
  SetFaults("launch:1=never");
  ASSERT_EQ(Launch(other_), cudaSuccess);
  ASSERT_EQ(Launch(other_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
  EndNow(other_);
  EXPECT_EQ(cudaStreamQuery(other_), cudaSuccess);
}

TEST_F(StreamTest, AFullQueueMakesTheHostWait) {
  constexpr int64_t kShort = 200'000'000;
  Set(&Settings::queue, 2);
  Run(stream_, kShort);
  ASSERT_EQ(cudaEventRecord(before_, stream_), cudaSuccess);
  Run(stream_, kLong);
  ASSERT_EQ(cudaEventRecord(after_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaErrorNotReady);
  Run(stream_, kShort);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(after_), cudaErrorNotReady);
}

TEST_F(StreamTest, LaunchesAreChecked) {
  static const char host = 0, unknown = 0;
  RegisterKernel(&host, "kernel");
  EXPECT_EQ(cudaLaunchKernel(&host, dim3(0), dim3(1), nullptr, 0, stream_),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&host, dim3(1), dim3(1025), nullptr, 0, stream_),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&unknown, dim3(1), dim3(1), nullptr, 0, stream_),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(Counted("launches"), 0);
}

TEST_F(StreamTest, WaitsAreCounted) {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(before_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(before_), cudaSuccess);
  EXPECT_EQ(Counted("waits"), 3);
}

}  // namespace
}  // namespace null_gpu
