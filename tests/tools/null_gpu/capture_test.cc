// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/capture.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "tests/tools/null_gpu/fixture.h"

namespace null_gpu {
namespace {

class CaptureTest : public NullGpuTest {
 protected:
  void SetUp() override {
    NullGpuTest::SetUp();
    stream_ = NonBlockingStream();
    side_ = NonBlockingStream();
    event_ = NewEvent();
  }

  void Begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }
  cudaError_t End() {
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph_);
    EXPECT_EQ(graph_ == nullptr, error != cudaSuccess);
    if (graph_ == nullptr) return error;
    AtEnd(
        [graph = graph_] { EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess); });
    return error;
  }
  cudaStreamCaptureStatus Status() {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
    return status;
  }
  size_t Nodes() {
    size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
    return count;
  }

  cudaStream_t stream_ = nullptr, side_ = nullptr;
  cudaEvent_t event_ = nullptr;
  cudaGraph_t graph_ = nullptr;  // captured last
};

TEST_F(CaptureTest, WorkBecomesNodesAndRunsWithTheGraph) {
  Begin();
  EXPECT_EQ(Launch(stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(nullptr, 0, 64, stream_), cudaSuccess);
  EXPECT_EQ(Launch(stream_), cudaSuccess);
  EXPECT_EQ(Status(), cudaStreamCaptureStatusActive);
  ASSERT_EQ(End(), cudaSuccess);
  EXPECT_EQ(Status(), cudaStreamCaptureStatusNone);
  EXPECT_EQ(Nodes(), 3);
  EXPECT_EQ(Counted("graph_nodes"), 3);
  EXPECT_EQ(Counted("launches"), 0);
  EXPECT_EQ(Counted("fills"), 0);

  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(Counted("graph_launches"), 2);
  EXPECT_EQ(Counted("launches"), 4);
  EXPECT_EQ(Counted("fills"), 2);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(CaptureTest, EventsJoinOtherStreams) {
  Begin();
  ASSERT_EQ(Launch(stream_), cudaSuccess);
  Wait(side_, stream_);
  ASSERT_EQ(Launch(side_), cudaSuccess);
  Wait(stream_, side_);
  ASSERT_EQ(Launch(stream_), cudaSuccess);
  ASSERT_EQ(End(), cudaSuccess);
  ASSERT_EQ(Nodes(), 3);
  std::vector<cudaGraphNode_t> nodes(3);
  size_t count = 3;
  ASSERT_EQ(cudaGraphGetNodes(graph_, nodes.data(), &count), cudaSuccess);
  std::vector<size_t> dependencies;
  for (cudaGraphNode_t node : nodes) {
    ASSERT_EQ(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count),
              cudaSuccess);
    dependencies.push_back(count);
  }
  EXPECT_THAT(dependencies, testing::ElementsAre(0, 1, 2));
}

TEST_F(CaptureTest, WorkOfAnotherStreamMustBeJoined) {
  Begin();
  ASSERT_EQ(Launch(stream_), cudaSuccess);
  Wait(side_, stream_);
  ASSERT_EQ(Launch(side_), cudaSuccess);
  EXPECT_EQ(End(), cudaErrorStreamCaptureUnjoined);
}

TEST_F(CaptureTest, ItEndsWhereItBegan) {
  Begin();
  Wait(side_, stream_);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(side_, &graph),
            cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, OutsideWorkCannotBeWaitedFor) {
  ASSERT_EQ(cudaEventRecord(event_, side_), cudaSuccess);
  Begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream_, event_, 0),
            cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, AllocatingMakesItWorthless) {
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    Begin(mode);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(Status(), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(Launch(stream_), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(Status(), cudaStreamCaptureStatusNone);
  }
}

TEST_F(CaptureTest, RelaxedCapturesAndThreadsMayAllocate) {
  void* pointer = nullptr;
  Begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaSuccess);
  ASSERT_EQ(End(), cudaSuccess);

  Begin();
  auto mode = cudaStreamCaptureModeRelaxed;
  ASSERT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  ASSERT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  ASSERT_EQ(End(), cudaSuccess);
}

TEST_F(CaptureTest, AnotherThreadSpoilsAGlobalOneOnly) {
  ASSERT_EQ(cudaEventRecord(event_, side_), cudaSuccess);
  const auto query_in_thread = [&] {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = cudaEventQuery(event_); }).join();
    return error;
  };
  Begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(query_in_thread(), cudaSuccess);
  ASSERT_EQ(End(), cudaSuccess);
  Begin();
  EXPECT_EQ(query_in_thread(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, NothingThatIsCapturedCanBeWaitedForOrDestroyed) {
  using WaitCall = cudaError_t (*)(cudaStream_t);
  constexpr WaitCall kWaits[] = {
      &cudaStreamSynchronize,
      &cudaStreamQuery,
      &cudaStreamDestroy,
      [](cudaStream_t) { return cudaDeviceSynchronize(); },
  };
  for (const WaitCall wait : kWaits) {
    Begin(cudaStreamCaptureModeRelaxed);
    EXPECT_EQ(wait(stream_), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
  }
  Begin(cudaStreamCaptureModeRelaxed);
  ASSERT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorCapturedEvent);
  EXPECT_EQ(End(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, TheLegacyStreamTakesNoPart) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  const cudaStream_t blocking = BlockingStream();
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_EQ(Launch(nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph_),
            cudaErrorStreamCaptureInvalidated);
}

TEST_F(CaptureTest, AnExternalEventIsRecordedByTheGraph) {
  const cudaEvent_t end = NewEvent();
  const auto record = [&](cudaEvent_t event) {
    ASSERT_EQ(cudaEventRecordWithFlags(event, stream_, cudaEventRecordExternal),
              cudaSuccess);
  };
  const cudaGraphExec_t exec = Captured(stream_, [&] {
    record(event_);
    ASSERT_EQ(Launch(stream_), cudaSuccess);
    record(end);
  });
  EXPECT_EQ(Counted("graph_nodes"), 3);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event_, end),
            cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event_, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
}

}  // namespace
}  // namespace null_gpu
