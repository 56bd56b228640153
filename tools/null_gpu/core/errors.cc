// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/errors.h"

#include <atomic>

namespace null_gpu {
namespace {

struct Entry {
  cudaError_t error;
  const char *name, *text;
};

constexpr Entry kEntries[] = {
#define NULL_GPU_ERROR(error, text) \
  { error, #error, text }
    NULL_GPU_ERROR(cudaSuccess, "no error"),
    NULL_GPU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    NULL_GPU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    NULL_GPU_ERROR(cudaErrorInvalidConfiguration,
                   "invalid configuration argument"),
    NULL_GPU_ERROR(cudaErrorInvalidMemcpyDirection,
                   "invalid copy direction for memcpy"),
    NULL_GPU_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    NULL_GPU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    NULL_GPU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    NULL_GPU_ERROR(cudaErrorIllegalState,
                   "the operation cannot be performed in the present state"),
    NULL_GPU_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    NULL_GPU_ERROR(cudaErrorNotReady, "device not ready"),
    NULL_GPU_ERROR(cudaErrorIllegalAddress,
                   "an illegal memory access was encountered"),
    NULL_GPU_ERROR(cudaErrorLaunchOutOfResources,
                   "too many resources requested for launch"),
    NULL_GPU_ERROR(cudaErrorAssert, "device-side assert triggered"),
    NULL_GPU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureUnsupported,
                   "operation not permitted when stream is capturing"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureInvalidated,
                   "operation failed due to a previous error during capture"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureMerge,
                   "operation would result in a merge of separate capture "
                   "sequences"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureUnmatched,
                   "capture was not ended in the same stream as it began"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureUnjoined,
                   "capturing stream has unjoined work"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureIsolation,
                   "dependency created on uncaptured work in another stream"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureImplicit,
                   "operation would make the legacy stream depend on a "
                   "capturing blocking stream"),
    NULL_GPU_ERROR(cudaErrorCapturedEvent,
                   "operation not permitted on an event last recorded in a "
                   "capturing stream"),
    NULL_GPU_ERROR(cudaErrorStreamCaptureWrongThread,
                   "attempt to terminate a thread-local capture sequence from "
                   "another thread"),
    NULL_GPU_ERROR(cudaErrorUnknown, "unknown error"),
#undef NULL_GPU_ERROR
};

const Entry& Find(cudaError_t error) {
  static constexpr Entry kUnknown = {
      cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};
  for (const Entry& entry : kEntries) {
    if (entry.error == error) return entry;
  }
  return kUnknown;
}

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> sticky_error{cudaSuccess};

}  // namespace

const char* ErrorName(cudaError_t error) { return Find(error).name; }

const char* ErrorText(cudaError_t error) { return Find(error).text; }

void SetLastError(cudaError_t error) { last_error = error; }

cudaError_t PeekLastError() {
  return StickyError() != cudaSuccess ? StickyError() : last_error;
}

cudaError_t TakeLastError() {
  const cudaError_t error = PeekLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t StickyError() { return sticky_error.load(); }

void LoseContext(cudaError_t error) { sticky_error = error; }

void RestoreContext() {
  sticky_error = cudaSuccess;
  last_error = cudaSuccess;
}

}  // namespace null_gpu
