// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/errors.h"

#include <atomic>

#include "tools/null_gpu/core/generated.h"

namespace null_gpu {
namespace {

ErrorWords Find(cudaError_t error) {
  constexpr char kUnknown[] = "unrecognized error code";
  const auto found = Errors().find(error);
  return found != Errors().end() ? found->second
                                 : ErrorWords{kUnknown, kUnknown};
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
