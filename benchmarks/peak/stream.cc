// SPDX-License-Identifier: MIT

#include "benchmarks/peak/stream.h"

#include <torch/types.h>
#include <xmmintrin.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "benchmarks/peak/peak_kernels.h"
#include "model/fused/cpu/parallel.h"
#include "model/spec/check_log.h"
#include "model/spec/status_macros.h"
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
void WriteNonTemporal(const at::Tensor& to, const Element& element) {
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

void RunNonTemporal(StreamKernel kernel, const at::Tensor& to,
                    const at::Tensor& one, const at::Tensor& other) {
  auto* const a = to.data_ptr<float>();
  const auto* const b = one.defined() ? one.data_ptr<float>() : nullptr;
  const auto* const c = other.defined() ? other.data_ptr<float>() : nullptr;
  const auto load = [](const float* from, int64_t i) {
    return _mm_load_ps(from + i);
  };
  switch (kernel) {
    case StreamKernel::kCopy:
      return WriteNonTemporal(to, [=](int64_t i) { return load(b, i); });
    case StreamKernel::kScale:
      return WriteNonTemporal(to,
                              [=](int64_t i) { return kScalar * load(b, i); });
    case StreamKernel::kAdd:
      return WriteNonTemporal(
          to, [=](int64_t i) { return load(b, i) + load(c, i); });
    case StreamKernel::kTriad:
      return WriteNonTemporal(
          to, [=](int64_t i) { return load(b, i) + kScalar * load(c, i); });
    case StreamKernel::kUpdate:
      return WriteNonTemporal(to, [=](int64_t i) { return -load(a, i); });
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

void Stream::Run() { RunInto(a_, stores_); }

void Stream::RunInto(const at::Tensor& a, Stores stores) {
  if (stores == Stores::kNonTemporal && kernel_ != StreamKernel::kRead) {
    return RunNonTemporal(kernel_, a, b_, c_);
  }
  at::Tensor result = a;
  switch (kernel_) {
    case StreamKernel::kCopy:
      result.copy_(b_);
      break;
    case StreamKernel::kScale:
      at::mul_out(result, b_, scalar_);
      break;
    case StreamKernel::kAdd:
      at::add_out(result, b_, c_);
      break;
    case StreamKernel::kTriad:
      at::add_out(result, b_, c_, kScalar);
      break;
    case StreamKernel::kUpdate:
      result.neg_();
      break;
    case StreamKernel::kRead:
      at::sum_out(sum_, a, at::IntArrayRef());
      break;
  }
}

absl::Status Stream::Verify() {
  const bool overwrites = b_.defined();
  const at::Tensor expected = overwrites ? at::empty_like(a_) : a_.clone();
  if (overwrites) a_.fill_(std::numeric_limits<double>::quiet_NaN());
  sum_.fill_(std::numeric_limits<double>::quiet_NaN());
  Run();
  if (kernel_ == StreamKernel::kRead) {
    RETURN_IF_ERROR(CheckError(
        "sum", RelativeError(sum_, expected.sum(at::kDouble)), 1e-4));
  } else {
    RunInto(expected, stores_ == Stores::kOrdinary ? Stores::kNonTemporal
                                                   : Stores::kOrdinary);
    RETURN_IF_ERROR(VerifyEqual(absl::StrCat("the ", StreamKernelName(kernel_)),
                                a_, expected));
  }
  return CheckVaried("an operand", overwrites ? b_ : a_);
}

}  // namespace trainbench
