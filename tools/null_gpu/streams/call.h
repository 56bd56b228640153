// SPDX-License-Identifier: MIT
// What every function of the API does around its own work.

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

// If memory is watched, clears what earlier calls of functions have left on the
// stack, where the next ones will have theirs. Arguments of kernels have parts
// that LibTorch does not fill in; a pointer there would pass for one of its
// own.
void WipeStack();

// A string as a template's argument.
template <size_t N>
struct FixedString {
  // Implicit, so that a literal will do.
  constexpr FixedString(const char (&literal)[N]) {  // NOLINT
    std::copy_n(literal, N, text);
  }
  char text[N];
};

// Counts the call, gives it a correlation id, and shows it to CUPTI with its
// times on the host.
class CallScope {
 public:
  explicit CallScope(ApiEntry& entry);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Of the outermost call that the thread is in, 0 outside of any.
  static uint32_t Correlation();

  // The error of a lost context or of a fault, else success.
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

// Whether a call returns before its work is done. A sticky fault shows only
// after a call that does.
enum class Returns { kWhenDone, kAtOnce };

struct Injected {
  cudaError_t error = cudaSuccess;  // to return at once
  bool never = false;               // what is enqueued never ends
  std::string nccl_error;           // "remote_error", ...
};

// What the fault plan has for this call, which is a name or a class of fault.h.
// It does not return from a "hang".
Injected Inject(std::string_view call, size_t bytes, Returns returns);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_
