// SPDX-License-Identifier: MIT

#include "benchmarks/peak/stream.h"

#include <torch/types.h>
#include <xmmintrin.h>

#include <limits>

#include "benchmarks/peak/peak_kernels.h"
#include "model/fused/cpu/parallel.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

// A power of 2: its product is exact, so a fused multiply-add rounds like two
// separate operations.
constexpr float kScalar = 0.5F;
// Elements of a cache line.
constexpr int64_t kLine = 16;

// Stores `element(i)`, four elements from index i on, past the caches, on all
// threads. Each has one contiguous range of whole lines.
template <typename Element>
void WriteAround(const at::Tensor& to, const Element& element) {
  auto* const a = to.data_ptr<float>();
  ForRows(to.numel() / kLine, kLine, [&](int64_t begin, int64_t end) {
    // A copy, which the stores cannot change: it stays in registers.
    const Element four = element;
    float* const first = a;
    for (int64_t i = begin * kLine; i < end * kLine; i += 4) {
      _mm_stream_ps(first + i, four(i));
    }
    _mm_sfence();  // nothing else orders these stores before later ones
  });
}

void RunAround(StreamKernel kernel, const at::Tensor& to, const at::Tensor& one,
               const at::Tensor& other) {
  auto* const a = to.data_ptr<float>();
  const auto* const b = one.defined() ? one.data_ptr<float>() : nullptr;
  const auto* const c = other.defined() ? other.data_ptr<float>() : nullptr;
  const auto load = [](const float* from, int64_t i) {
    return _mm_load_ps(from + i);
  };
  switch (kernel) {
    case StreamKernel::kCopy:
      return WriteAround(to, [=](int64_t i) { return load(b, i); });
    case StreamKernel::kScale:
      return WriteAround(to, [=](int64_t i) { return kScalar * load(b, i); });
    case StreamKernel::kAdd:
      return WriteAround(to,
                         [=](int64_t i) { return load(b, i) + load(c, i); });
    case StreamKernel::kTriad:
      return WriteAround(
          to, [=](int64_t i) { return load(b, i) + kScalar * load(c, i); });
    case StreamKernel::kUpdate:
      return WriteAround(to, [=](int64_t i) { return -load(a, i); });
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

Stream::Stream(StreamKernel kernel, Stores stores, int64_t bytes)
    : kernel_(kernel),
      stores_(stores),
      scalar_(at::scalar_tensor(kScalar)),
      sum_(at::zeros({})),
      a_(Buffer(bytes)) {
  if (StreamBuffers(kernel) > 1) b_ = Buffer(bytes);
  if (StreamBuffers(kernel) > 2) c_ = Buffer(bytes);
}

void Stream::Run() {
  if (stores_ == Stores::kNonTemporal && kernel_ != StreamKernel::kRead) {
    return RunAround(kernel_, a_, b_, c_);
  }
  switch (kernel_) {
    case StreamKernel::kCopy:
      a_.copy_(b_);
      break;
    case StreamKernel::kScale:
      at::mul_out(a_, b_, scalar_);
      break;
    case StreamKernel::kAdd:
      at::add_out(a_, b_, c_);
      break;
    case StreamKernel::kTriad:
      at::add_out(a_, b_, c_, kScalar);
      break;
    case StreamKernel::kUpdate:
      a_.neg_();
      break;
    case StreamKernel::kRead:
      at::sum_out(sum_, a_, at::IntArrayRef());
      break;
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
      return CheckError("sum", RelativeError(sum_, before.sum(at::kDouble)),
                        1e-4);
  }
  return absl::OkStatus();
}

}  // namespace trainbench
