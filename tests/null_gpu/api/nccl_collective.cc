// SPDX-License-Identifier: MIT
// The collectives of NCCL, for c10d, as kernels that move nothing.

#include <nccl.h>

#include <string>
#include <vector>

#include "tests/null_gpu/api/nccl_comm.h"
#include "tests/null_gpu/core/kernel.h"
#include "tests/null_gpu/streams/call.h"
#include "tests/null_gpu/streams/operation.h"
#include "tests/null_gpu/streams/stream.h"

using null_gpu::Ask;
using null_gpu::Operation;

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
  operation.is_collective = true;
  operation.collective_bytes = collective.bytes;
  if (never) operation.nanoseconds = null_gpu::kForever;
  {
    const std::lock_guard lock(collective.comm->mutex);
    collective.comm->streams.insert(collective.stream);
  }
  return null_gpu::NcclResult(null_gpu::Call<"cudaLaunchKernelExC">([&] {
    return null_gpu::Enqueue(operation, collective.stream, "launch");
  }));
}

ncclResult_t Run(const Collective& collective) {
  const auto fault =
      null_gpu::Inject("nccl", collective.bytes, null_gpu::Returns::kAtOnce);
  if (fault.error != cudaSuccess) return null_gpu::NcclResult(fault.error);
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

}  // namespace

extern "C" {

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
