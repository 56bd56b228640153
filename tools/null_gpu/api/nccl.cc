// SPDX-License-Identifier: MIT
// NCCL, for c10d. Ranks do not communicate: a collective is a kernel that moves
// no data and ends by itself.

#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/operation.h"
#include "tools/null_gpu/streams/stream.h"

struct ncclComm {
  int ranks, rank;
  std::mutex mutex{};
  ncclResult_t async_error = ncclSuccess;
  std::set<cudaStream_t> streams{};  // on which it has enqueued kernels
};

namespace null_gpu {
namespace {

std::mutex last_message_mutex;
const char* last_message = "";

// Returns NCCL's result if its own call into CUDA returned `error`. A failure
// becomes the process's last error, with NCCL's text.
ncclResult_t NcclResult(cudaError_t error) {
  if (error == cudaSuccess) return ncclSuccess;
  const std::lock_guard lock(last_message_mutex);
  static std::map<cudaError_t, std::string> texts;
  const auto [text, is_new] =
      texts.try_emplace(error, "Cuda failure " + std::to_string(error) + " '" +
                                   ErrorText(error) + "'");
  last_message = text->second.c_str();
  return ncclUnhandledCudaError;
}

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

size_t BytesOf(size_t count, ncclDataType_t type) {
  return count * InfoOf(type).bytes;
}

// NCCL's built-in reductions are its first ones.
std::string Reduction(const std::string& name, ncclRedOp_t operation,
                      ncclDataType_t type) {
  constexpr const char* kNames[] = {"Sum", "Prod", "MinMax", "MinMax",
                                    "SumPostDiv"};
  return name + "_" + kNames[operation] + "_" + InfoOf(type).name + "_RING_LL";
}

struct Collective {
  ncclComm_t comm;
  cudaStream_t stream;
  Operation operation;
};

size_t Ranks(ncclComm_t comm) { return static_cast<size_t>(comm->ranks); }

// Returns the share of all ranks' data that each rank passes on in a ring.
double OthersShare(ncclComm_t comm) { return 1 - 1.0 / comm->ranks; }

// NCCL launches one kernel for all collectives of a group on a communicator and
// stream.
struct Group {
  int depth = 0;
  std::vector<Collective> launches;

  void Add(const Collective& added) {
    const auto same = std::find_if(
        launches.begin(), launches.end(), [&](const Collective& other) {
          return other.comm == added.comm && other.stream == added.stream;
        });
    if (same == launches.end()) return launches.push_back(added);
    Operation& into = same->operation;
    const Operation& more = added.operation;
    into.collective_bytes += more.collective_bytes;
    into.work.bytes += more.work.bytes;
    into.accesses.insert(into.accesses.end(), more.accesses.begin(),
                         more.accesses.end());
  }
};

Group& ThreadGroup() {
  thread_local Group group;
  return group;
}

ncclResult_t Run(Collective& collective) {
  auto& [comm, stream, operation] = collective;
  const Fault fault = Inject("nccl", operation.collective_bytes);
  if (fault.error != cudaSuccess) return NcclResult(fault.error);
  if (fault.never || fault.remote_error) operation.nanoseconds = kForever;
  {
    const std::lock_guard lock(comm->mutex);
    if (fault.remote_error) comm->async_error = ncclRemoteError;
    comm->streams.insert(stream);
  }
  const auto launch = [&] {
    return Enqueue(collective.operation, collective.stream);
  };
  return NcclResult(Call(launch, "cudaLaunchKernelExC"));
}

// `bytes` are the whole tensor's, on all ranks together. In a ring each rank
// sends `share_on_link` of them.
ncclResult_t Start(ncclComm_t comm, cudaStream_t stream,
                   const std::string& name, size_t bytes, Accesses accesses,
                   double share_on_link = 1) {
  std::erase_if(accesses, [](const Access& a) { return a.bytes == 0; });
  Collective collective = {comm, stream, {}};
  Operation& operation = collective.operation;
  operation.kind = Operation::Kind::kKernel;
  operation.kernel = NamedKernel("ncclDevKernel_" + name + "_null");
  operation.grid = dim3(24);
  operation.block = dim3(544);
  operation.is_collective = true;
  operation.collective_bytes = bytes;
  operation.work.bytes = share_on_link * static_cast<double>(bytes);
  operation.accesses = std::move(accesses);
  if (ThreadGroup().depth == 0) return Run(collective);
  ThreadGroup().Add(collective);
  return ncclSuccess;
}

ncclResult_t EndGroup() {
  Group& group = ThreadGroup();
  if (group.depth == 0) return ncclInvalidUsage;
  if (--group.depth > 0) return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  for (Collective& collective : std::exchange(group.launches, {})) {
    const ncclResult_t error = Run(collective);
    if (error != ncclSuccess) result = error;
  }
  return result;
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

const char* ncclGetLastError(ncclComm_t) {
  const std::lock_guard lock(last_message_mutex);
  return last_message;
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

// Also ends kernels that would wait for a rank forever. c10d aborts a failed
// communicator twice, the second time as null.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return Ask([&] {
    if (comm == nullptr) return;
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

ncclResult_t ncclGroupStart() {
  return Ask([] { ++ThreadGroup().depth; });
}

ncclResult_t ncclGroupEnd() {
  return Ask([] { return EndGroup(); });
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream) {
  return Ask([&] {
    const size_t bytes = BytesOf(count, type);
    return Start(comm, stream, Reduction("AllReduce", operation, type), bytes,
                 {ReadOf(from, bytes), WriteOf(to, bytes)},
                 2 * OthersShare(comm));
  });
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t comm, cudaStream_t stream) {
  return Ask([&] {
    const size_t bytes = BytesOf(count, type), all = bytes * Ranks(comm);
    return Start(comm, stream, Reduction("ReduceScatter", operation, type), all,
                 {ReadOf(from, all), WriteOf(to, bytes)}, OthersShare(comm));
  });
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return Ask([&] {
    const size_t bytes = BytesOf(count, type), all = bytes * Ranks(comm);
    return Start(comm, stream, "AllGather_RING_LL", all,
                 {ReadOf(from, bytes), WriteOf(to, all)}, OthersShare(comm));
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return Ask([&] {
    const size_t bytes = BytesOf(count, type);
    const bool is_root = comm->rank == root;
    return Start(comm, stream, "Broadcast_RING_LL", bytes,
                 {ReadOf(from, is_root ? bytes : 0),
                  WriteOf(to, is_root && from == to ? 0 : bytes)});
  });
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type,
                       int root, ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

}  // extern "C"
}  // namespace null_gpu
