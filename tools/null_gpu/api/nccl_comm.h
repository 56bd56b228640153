// SPDX-License-Identifier: MIT
// A communicator of NCCL. Ranks do not communicate: a collective moves no data,
// and its kernel ends by itself.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_API_NCCL_COMM_H_
#define TRAINBENCH_TOOLS_NULL_GPU_API_NCCL_COMM_H_

#include <nccl.h>

#include <mutex>
#include <set>

struct ncclComm {
  int ranks, rank;
  std::mutex mutex{};
  ncclResult_t async_error = ncclSuccess;
  std::set<cudaStream_t> streams{};  // on which it has enqueued kernels
};

namespace null_gpu {

// Returns NCCL's result if its own call into CUDA returned `error`. A failure
// becomes the process's last error, with NCCL's text.
ncclResult_t NcclResult(cudaError_t error);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_API_NCCL_COMM_H_
