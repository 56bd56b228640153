// SPDX-License-Identifier: MIT
// The common frame of every function of the API.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_

#include <cuda.h>
#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/fault.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {

// If memory is watched, clears the part of the stack that the next calls will
// use. LibTorch leaves parts of kernel arguments uninitialized; an old pointer
// there would pass for one of the kernel's.
void WipeStack();

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

// Success of any library: their status is 0.
struct Success {
  template <typename Status>
  operator Status() const {  // NOLINT(google-explicit-constructor)
    return Status{};
  }
};

// Returns the status of the body, which succeeds if it returns none.
template <typename Body>
auto StatusOf(Body&& body) {
  if constexpr (std::is_void_v<decltype(body())>) {
    body();
    return Success();
  } else {
    return body();
  }
}

// Returns the entry of a function, which it remembers by the type of its body:
// a lambda in that function has a type of its own.
template <typename Body>
ApiEntry& EntryOf(const char* name) {
  static const char* const first = name;
  static ApiEntry& entry = ApiEntry::Of(first);
  return name == first ? entry : ApiEntry::Of(name);
}

// Runs the body in the device's context, if that is not lost.
template <typename Body>
cudaError_t InContext(Body&& body, const char* name) {
  CallScope scope(EntryOf<Body>(name));
  const cudaError_t error = scope.Admit();
  return error == cudaSuccess ? StatusOf(body) : error;
}

// The frames of the API's functions. Each runs the body of the function that
// calls it, and counts the call under that function's name.

// For a function that needs no context.
template <typename Body>
auto Ask(Body&& body, const char* name = __builtin_FUNCTION()) {
  EntryOf<Body>(name).calls().Add();
  WipeStack();
  return StatusOf(body);
}

// The same for a function about a device. Returns `kError` if there is no
// such device.
template <auto kError, typename Body>
auto AskAbout(int device, Body&& body,
              const char* name = __builtin_FUNCTION()) {
  const auto checked = [&] {
    if (!IsDeviceIndex(device)) return kError;
    body();
    return decltype(kError){};
  };
  return Ask(checked, name);
}

// For a function that needs a context. Its error becomes the thread's last one.
template <typename Body>
cudaError_t Call(Body&& body, const char* name = __builtin_FUNCTION()) {
  const cudaError_t error = InContext(body, name);
  if (error != cudaSuccess) SetLastError(error);
  return error;
}

// For a function of the driver, which keeps no last error. Runtime and driver
// have the same numbers for the errors that occur here.
template <typename Body>
CUresult DriverCall(Body&& body, const char* name = __builtin_FUNCTION()) {
  return static_cast<CUresult>(InContext(body, name));
}

// For a function of a stream. Locks StreamMutex() and passes the stream.
template <typename Body>
cudaError_t StreamCall(cudaStream_t handle, Body&& body,
                       const char* name = __builtin_FUNCTION()) {
  return Call([&] { return WithStream(handle, body); }, name);
}

// For a function such as cudaMalloc, which most captures forbid.
template <typename Body>
cudaError_t UnsafeCall(Body&& body, const char* name = __builtin_FUNCTION()) {
  const auto checked = [&] {
    const cudaError_t error = CheckUnsafe();
    return error == cudaSuccess ? body() : error;
  };
  return Call(checked, name);
}

// Returns the fault plan's effect on this call, a name or a class of fault.h.
Fault Inject(std::string_view call, size_t bytes = 0);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_CALL_H_
