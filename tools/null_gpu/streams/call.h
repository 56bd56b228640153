// SPDX-License-Identifier: MIT
// The common frame of every function of the API.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_

#include <cuda.h>
#include <driver_types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/errors.h"

namespace null_gpu {

// If memory is watched, clears the part of the stack that the next calls will
// use. LibTorch leaves parts of kernel arguments uninitialized; an old pointer
// there would pass for one of the kernel's.
void WipeStack();

// A string as a template argument.
template <size_t N>
struct FixedString {
  // Implicit, so that a literal can be passed.
  constexpr FixedString(const char (&literal)[N]) {  // NOLINT
    std::copy_n(literal, N, text);
  }
  char text[N];
};

// Counts the call, gives it a correlation id, and reports it to CUPTI with its
// times on the host.
class CallScope {
 public:
  explicit CallScope(ApiEntry& entry);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // The id of the thread's outermost call, 0 outside any call.
  static uint32_t Correlation();

  // Returns the error of a lost context or of a fault, else success.
  cudaError_t Admit();

 private:
  ApiEntry& entry_;
  bool outermost_;
  uint64_t start_ = 0;
};

// Runs a function that needs no context.
template <FixedString kName, typename Body>
auto Ask(Body&& body) {
  static ApiEntry& entry = ApiEntry::Of(kName.text);
  entry.calls().Add();
  WipeStack();
  return body();
}

// Runs a function that needs a context. Its error becomes the thread's last
// one.
template <FixedString kName, typename Body>
cudaError_t Call(Body&& body) {
  static ApiEntry& entry = ApiEntry::Of(kName.text);
  CallScope scope(entry);
  cudaError_t error = scope.Admit();
  if (error == cudaSuccess) error = body();
  if (error != cudaSuccess) SetLastError(error);
  return error;
}

// The same for a function of the driver, which keeps no last error. Runtime and
// driver have the same numbers for the errors that occur here.
template <FixedString kName, typename Body>
CUresult DriverCall(Body&& body) {
  static ApiEntry& entry = ApiEntry::Of(kName.text);
  CallScope scope(entry);
  cudaError_t error = scope.Admit();
  if (error == cudaSuccess) error = body();
  return static_cast<CUresult>(error);
}

// Whether a call returns when its work is done or at once. In the latter case a
// sticky fault appears only in later calls.
enum class Returns { kWhenDone, kAtOnce };

struct Injected {
  cudaError_t error = cudaSuccess;  // to return at once
  bool never = false;               // the enqueued work never ends
  std::string nccl_error;           // "remote_error", ...
};

// Returns the fault plan's effect on this call, a name or a class of fault.h.
// Does not return from a "hang".
Injected Inject(std::string_view call, size_t bytes, Returns returns);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_
