// SPDX-License-Identifier: MIT
// The communicators of NCCL, for c10d.

#include "tools/null_gpu/api/nccl_comm.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <string>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

std::mutex last_error_mutex;
const char* last_error = "";

}  // namespace

ncclResult_t NcclResult(cudaError_t error) {
  if (error == cudaSuccess) return ncclSuccess;
  const std::lock_guard lock(last_error_mutex);
  static std::map<cudaError_t, std::string> texts;
  const auto [text, is_new] =
      texts.try_emplace(error, "Cuda failure " + std::to_string(error) + " '" +
                                   ErrorText(error) + "'");
  last_error = text->second.c_str();
  return ncclUnhandledCudaError;
}

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* kTexts[] = {
      "no error",
      "unhandled cuda error",
      "unhandled system error",
      "internal error",
      "invalid argument",
      "invalid usage",
      "remote process exited or there was a network error",
      "NCCL operation in progress"};
  return result >= 0 && result < static_cast<int>(std::size(kTexts))
             ? kTexts[result]
             : "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) {
  const std::lock_guard lock(last_error_mutex);
  return last_error;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return Ask([&] {
    static std::atomic<int> last{0};
    std::memset(id, 0, sizeof(*id));
    const std::array<int, 2> content = {getpid(), ++last};
    std::memcpy(id->internal, content.data(), sizeof(content));
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId,
                                    int rank, ncclConfig_t*) {
  return Ask([&] {
    GetMemory().EnsureContext(CurrentDevice());
    *comm = new ncclComm{ranks, rank};
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return Ask([&] { delete comm; });
}

// Also ends kernels that would wait for a rank forever.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return Ask([&] {
    for (cudaStream_t stream : comm->streams) EndNow(stream);
    delete comm;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return Ask([&] {
    const std::lock_guard lock(comm->mutex);
    *error = comm->async_error;
  });
}

}  // extern "C"
}  // namespace null_gpu
