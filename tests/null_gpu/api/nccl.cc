// SPDX-License-Identifier: MIT
// NCCL for c10d. Ranks do not know of each other: a collective moves nothing,
// and its kernel ends by itself.

#include <nccl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/null_gpu/core/device.h"
#include "tests/null_gpu/core/kernel.h"
#include "tests/null_gpu/core/memory.h"
#include "tests/null_gpu/core/settings.h"
#include "tests/null_gpu/streams/call.h"
#include "tests/null_gpu/streams/operation.h"
#include "tests/null_gpu/streams/stream.h"

using null_gpu::Ask;
using null_gpu::Operation;

struct ncclComm {
  int ranks, rank, device;
  std::mutex mutex;
  ncclResult_t async_error = ncclSuccess;
  std::set<cudaStream_t> streams;  // on which it has enqueued kernels
};

namespace {

struct TypeInfo {
  const char* name;  // in the names of NCCL's kernels
  size_t bytes;
};

TypeInfo InfoOf(ncclDataType_t type) {
  constexpr TypeInfo kInfos[] = {
      {"i8", 1},  {"u8", 1},   {"i32", 4},    {"u32", 4},
      {"i64", 8}, {"u64", 8},  {"f16", 2},    {"f32", 4},
      {"f64", 8}, {"bf16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1},
  };
  if (type < 0 || type >= static_cast<int>(std::size(kInfos))) {
    return {"unknown", 1};
  }
  return kInfos[type];
}

std::string NameOf(ncclRedOp_t operation) {
  constexpr const char* kNames[] = {"Sum", "Prod", "MinMax", "MinMax",
                                    "SumPostDiv"};
  return operation < static_cast<int>(std::size(kNames)) ? kNames[operation]
                                                         : "PreMulSum";
}

struct Collective {
  ncclComm_t comm;
  cudaStream_t stream;
  std::string name;
  size_t bytes;
};

// NCCL launches one kernel for all that a group has on a communicator and
// stream.
struct Group {
  int depth = 0;
  std::vector<Collective> collectives;
};

Group& ThreadGroup() {
  thread_local Group group;
  return group;
}

ncclResult_t ErrorOf(const std::string& word) {
  return word == "internal_error" ? ncclInternalError : ncclSystemError;
}

ncclResult_t Launch(const Collective& collective, bool never) {
  Operation operation;
  operation.kind = Operation::Kind::kKernel;
  operation.kernel = null_gpu::NamedKernel(collective.name);
  operation.grid = dim3(24);
  operation.block = dim3(544);
  operation.collective_bytes = collective.bytes;
  if (never) operation.nanoseconds = null_gpu::kForever;
  {
    const std::lock_guard lock(collective.comm->mutex);
    collective.comm->streams.insert(collective.stream);
  }
  const cudaError_t error = null_gpu::Call<"cudaLaunchKernelExC">([&] {
    return null_gpu::Enqueue(operation, collective.stream, "launch");
  });
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t Run(const Collective& collective) {
  const auto fault =
      null_gpu::Inject("nccl", collective.bytes, null_gpu::Returns::kAtOnce);
  if (fault.error != cudaSuccess) return ncclUnhandledCudaError;
  const bool peer_lost = fault.nccl_error == "remote_error";
  if (!fault.nccl_error.empty() && !peer_lost) return ErrorOf(fault.nccl_error);
  if (peer_lost) {
    const std::lock_guard lock(collective.comm->mutex);
    collective.comm->async_error = ncclRemoteError;
  }
  return Launch(collective, fault.never || peer_lost);
}

ncclResult_t Start(ncclComm_t comm, cudaStream_t stream,
                   const std::string& operation, size_t bytes) {
  const Collective collective = {comm, stream,
                                 "ncclDevKernel_" + operation + "_null", bytes};
  if (ThreadGroup().depth == 0) return Run(collective);
  ThreadGroup().collectives.push_back(collective);
  return ncclSuccess;
}

ncclResult_t EndGroup() {
  Group& group = ThreadGroup();
  if (group.depth == 0) return ncclInvalidUsage;
  if (--group.depth > 0) return ncclSuccess;
  std::vector<Collective> fused;
  for (const Collective& collective : group.collectives) {
    Collective* same = nullptr;
    for (Collective& other : fused) {
      if (other.comm == collective.comm && other.stream == collective.stream) {
        same = &other;
      }
    }
    if (same == nullptr) {
      fused.push_back(collective);
    } else {
      same->bytes += collective.bytes;
    }
  }
  group.collectives.clear();
  ncclResult_t result = ncclSuccess;
  for (const Collective& collective : fused) {
    const ncclResult_t error = Run(collective);
    if (error != ncclSuccess) result = error;
  }
  return result;
}

ncclResult_t MakeComm(ncclComm_t* comm, int ranks, int rank) {
  null_gpu::GetMemory().EnsureContext(null_gpu::CurrentDevice());
  *comm =
      new ncclComm{ranks, rank, null_gpu::CurrentDevice(), {}, ncclSuccess, {}};
  return ncclSuccess;
}

}  // namespace

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

const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return Ask<"ncclGetUniqueId">([&] {
    static std::atomic<int> last{0};
    std::memset(id, 0, sizeof(*id));
    const std::array<int, 2> content = {getpid(), ++last};
    std::memcpy(id->internal, content.data(), sizeof(content));
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId,
                              int rank) {
  return Ask<"ncclCommInitRank">([&] { return MakeComm(comm, ranks, rank); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId,
                                    int rank, ncclConfig_t*) {
  return Ask<"ncclCommInitRankConfig">(
      [&] { return MakeComm(comm, ranks, rank); });
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank,
                                      int, ncclUniqueId*, ncclConfig_t*) {
  return Ask<"ncclCommInitRankScalable">(
      [&] { return MakeComm(comm, ranks, rank); });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  return Ask<"ncclCommInitAll">([&] {
    for (int i = 0; i < count; ++i) {
      const int device = devices != nullptr ? devices[i] : i;
      comms[i] = new ncclComm{count, i, device, {}, ncclSuccess, {}};
    }
    return ncclSuccess;
  });
}

// Without a word from the other ranks it cannot know how many have this color,
// so the new communicator says that it has all of them. c10d does not ask.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t* made, ncclConfig_t*) {
  return Ask<"ncclCommSplit">([&] {
    *made = nullptr;
    if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
    return MakeComm(made, comm->ranks, key);
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t) {
  return Ask<"ncclCommFinalize">([] { return ncclSuccess; });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return Ask<"ncclCommDestroy">([&] {
    delete comm;
    return ncclSuccess;
  });
}

// Also ends kernels that would wait for a rank for ever.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return Ask<"ncclCommAbort">([&] {
    for (cudaStream_t stream : comm->streams) null_gpu::EndNow(stream);
    delete comm;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return Ask<"ncclCommGetAsyncError">([&] {
    const std::lock_guard lock(comm->mutex);
    *error = comm->async_error;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  *count = comm->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t, void*, size_t, void** handle) {
  return Ask<"ncclCommRegister">([&] {
    static char registered;
    *handle = &registered;
    return ncclSuccess;
  });
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess
                                                   : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess
                                          : ncclUnhandledCudaError;
}

ncclResult_t ncclGroupStart() {
  return Ask<"ncclGroupStart">([] {
    ++ThreadGroup().depth;
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  return Ask<"ncclGroupEnd">([] { return EndGroup(); });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void*,
                                      ncclDataType_t, ncclScalarResidence_t,
                                      ncclComm_t) {
  return Ask<"ncclRedOpCreatePreMulSum">([&] {
    *operation = ncclNumOps;
    return ncclSuccess;
  });
}

ncclResult_t ncclAllReduce(const void*, void*, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream) {
  return Ask<"ncclAllReduce">([&] {
    const TypeInfo info = InfoOf(type);
    return Start(
        comm, stream,
        "AllReduce_" + NameOf(operation) + "_" + info.name + "_RING_LL",
        count * info.bytes);
  });
}

ncclResult_t ncclReduce(const void*, void*, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int, ncclComm_t comm,
                        cudaStream_t stream) {
  return Ask<"ncclReduce">([&] {
    const TypeInfo info = InfoOf(type);
    return Start(comm, stream,
                 "Reduce_" + NameOf(operation) + "_" + info.name + "_RING_LL",
                 count * info.bytes);
  });
}

ncclResult_t ncclReduceScatter(const void*, void*, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t comm, cudaStream_t stream) {
  return Ask<"ncclReduceScatter">([&] {
    const TypeInfo info = InfoOf(type);
    return Start(
        comm, stream,
        "ReduceScatter_" + NameOf(operation) + "_" + info.name + "_RING_LL",
        count * info.bytes * static_cast<size_t>(comm->ranks));
  });
}

ncclResult_t ncclAllGather(const void*, void*, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return Ask<"ncclAllGather">([&] {
    return Start(comm, stream, "AllGather_RING_LL", count * InfoOf(type).bytes);
  });
}

ncclResult_t ncclBroadcast(const void*, void*, size_t count,
                           ncclDataType_t type, int, ncclComm_t comm,
                           cudaStream_t stream) {
  return Ask<"ncclBroadcast">([&] {
    return Start(comm, stream, "Broadcast_RING_LL", count * InfoOf(type).bytes);
  });
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type,
                       int root, ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAlltoAll(const void*, void*, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  return Ask<"ncclAlltoAll">([&] {
    return Start(comm, stream, "SendRecv",
                 count * InfoOf(type).bytes * static_cast<size_t>(comm->ranks));
  });
}

ncclResult_t ncclSend(const void*, size_t count, ncclDataType_t type, int,
                      ncclComm_t comm, cudaStream_t stream) {
  return Ask<"ncclSend">([&] {
    return Start(comm, stream, "SendRecv", count * InfoOf(type).bytes);
  });
}

ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t comm,
                      cudaStream_t stream) {
  return Ask<"ncclRecv">([&] { return Start(comm, stream, "SendRecv", 0); });
}

}  // extern "C"
