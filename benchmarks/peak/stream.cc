// SPDX-License-Identifier: MIT

#include "benchmarks/peak/stream.h"

#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "benchmarks/peak/peak_kernels.h"
#include "model/fused/cpu/parallel.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace trainbench {
namespace {

// A power of 2: its product is exact, so a fused multiply-add rounds like two
// separate operations.
constexpr float kScalar = 0.5F;
// Elements of a cache line.
constexpr int64_t kLine = 16;

// Vectors that every x86-64 CPU has; wider ones would also wait for memory.
using Lanes [[gnu::vector_size(16), gnu::may_alias]] = float;
constexpr int kLanes = 4;

Lanes LoadLanes(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

template <Stores kind>
void StoreLanes(float* to, Lanes value) {
#ifdef __SSE__
  if constexpr (kind == Stores::kNonTemporal) {
    _mm_stream_ps(to, reinterpret_cast<__m128>(value));
    return;
  }
#endif
  *reinterpret_cast<Lanes*>(to) = value;
}

// Orders non-temporal stores before later stores; nothing else orders them.
template <Stores kind>
void Fence() {
#ifdef __SSE__
  if constexpr (kind == Stores::kNonTemporal) _mm_sfence();
#endif
}

// Calls `range(begin, end)` with whole lines on all threads. Each thread has
// one contiguous range.
template <typename Range>
void OnAllThreads(int64_t elements, const Range& range) {
  ForRows(elements / kLine, kLine, [&](int64_t begin, int64_t end) {
    range(begin * kLine, end * kLine);
  });
}

template <Stores kind, typename Element>
void Write(const at::Tensor& to, const Element& element) {
  auto* const a = to.data_ptr<float>();
  OnAllThreads(to.numel(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kLanes) {
      StoreLanes<kind>(a + i, element(i));
    }
    Fence<kind>();
  });
}

// A longer sum in fp32 would lose what is added to it.
constexpr int64_t kSummedInFloat = 1024 * kLine;

double SumInFloat(const float* from, int64_t elements) {
  // Several sums, because each addition in one chain waits for the previous.
  Lanes part[4] = {};
  for (int64_t i = 0; i < elements; i += kLine) {
    for (int j = 0; j < 4; ++j) part[j] += LoadLanes(from + i + j * kLanes);
  }
  double whole = 0;
  for (const Lanes& lanes : part) {
    for (int k = 0; k < kLanes; ++k) whole += lanes[k];
  }
  return whole;
}

template <Stores kind>
void RunWith(StreamKernel kernel, const at::Tensor& to, const at::Tensor& one,
             const at::Tensor& other) {
  auto* const a = to.data_ptr<float>();
  const auto* const b = one.defined() ? one.data_ptr<float>() : nullptr;
  const auto* const c = other.defined() ? other.data_ptr<float>() : nullptr;
  switch (kernel) {
    case StreamKernel::kCopy:
      return Write<kind>(to, [b](int64_t i) { return LoadLanes(b + i); });
    case StreamKernel::kScale:
      return Write<kind>(to,
                         [b](int64_t i) { return kScalar * LoadLanes(b + i); });
    case StreamKernel::kAdd:
      return Write<kind>(to, [b, c](int64_t i) {
        return LoadLanes(b + i) + LoadLanes(c + i);
      });
    case StreamKernel::kTriad:
      return Write<kind>(to, [b, c](int64_t i) {
        return LoadLanes(b + i) + kScalar * LoadLanes(c + i);
      });
    case StreamKernel::kUpdate:
      return Write<kind>(to, [a](int64_t i) { return -LoadLanes(a + i); });
    case StreamKernel::kRead:
      return;
  }
}

at::Tensor Buffer(int64_t bytes) {
  return FillVaried(
      at::empty({bytes / static_cast<int64_t>(sizeof(float))}, at::kFloat));
}

// Returns the number of buffers that the kernel uses.
int StreamBuffers(StreamKernel kernel) {
  switch (kernel) {
    case StreamKernel::kCopy:
    case StreamKernel::kScale:
      return 2;
    case StreamKernel::kAdd:
    case StreamKernel::kTriad:
      return 3;
    case StreamKernel::kUpdate:
    case StreamKernel::kRead:
      return 1;
  }
  return 0;
}

}  // namespace

double StreamTraffic(StreamKernel kernel, Stores stores, int64_t bytes) {
  double moves = StreamBuffers(kernel);
  if (kernel == StreamKernel::kUpdate) {
    moves = 2;  // it loads what it overwrites anyway
  } else if (kernel != StreamKernel::kRead && stores == Stores::kOrdinary) {
    moves += 1;
  }
  return moves * static_cast<double>(bytes);
}

std::string StoresUnavailable(Stores stores) {
  if (stores == Stores::kOrdinary) return "";
#ifdef __SSE__
  return "";
#else
  return "this build has non-temporal stores of x86 only";
#endif
}

double SumOf(const at::Tensor& tensor) {
  const auto* const a = tensor.data_ptr<float>();
  std::mutex adding;
  double sum = 0;
  OnAllThreads(tensor.numel(), [&](int64_t begin, int64_t end) {
    double whole = 0;
    for (int64_t first = begin; first < end; first += kSummedInFloat) {
      whole += SumInFloat(a + first, std::min(kSummedInFloat, end - first));
    }
    const std::lock_guard lock(adding);
    sum += whole;
  });
  return sum;
}

Stream::Stream(StreamKernel kernel, Stores stores, int64_t bytes)
    : kernel_(kernel), stores_(stores), a_(Buffer(bytes)) {
  if (StreamBuffers(kernel) > 1) b_ = Buffer(bytes);
  if (StreamBuffers(kernel) > 2) c_ = Buffer(bytes);
}

void Stream::Run() {
  if (kernel_ == StreamKernel::kRead) {
    sum_ = SumOf(a_);
  } else if (stores_ == Stores::kOrdinary) {
    RunWith<Stores::kOrdinary>(kernel_, a_, b_, c_);
  } else {
    RunWith<Stores::kNonTemporal>(kernel_, a_, b_, c_);
  }
}

absl::Status Stream::Verify() {
  const bool overwrites = b_.defined();
  const at::Tensor before = overwrites ? b_ : a_.clone();
  if (overwrites) a_.fill_(std::numeric_limits<double>::quiet_NaN());
  Run();
  const absl::Status status = Compare(before);
  return status.ok() ? CheckVaried("an operand", before) : status;
}

absl::Status Stream::Compare(const at::Tensor& before) const {
  switch (kernel_) {
    case StreamKernel::kCopy:
      return VerifyEqual("the copy", a_, b_);
    case StreamKernel::kScale:
      return VerifyEqual("the multiples", a_, kScalar * b_);
    case StreamKernel::kAdd:
      return VerifyEqual("the sums", a_, b_ + c_);
    case StreamKernel::kTriad:
      return VerifyEqual("the triads", a_, b_ + kScalar * c_);
    case StreamKernel::kUpdate:
      return VerifyEqual("the update", a_, -before);
    case StreamKernel::kRead:
      return CheckError("sum",
                        RelativeError(at::scalar_tensor(sum_, at::kDouble),
                                      before.sum(at::kDouble)),
                        1e-4);
  }
  return absl::OkStatus();
}

}  // namespace trainbench
