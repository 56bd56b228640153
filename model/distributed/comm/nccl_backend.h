// SPDX-License-Identifier: MIT
// c10d's NCCL backend.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_NCCL_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_NCCL_BACKEND_H_

#include <array>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// For the current CUDA device. Throws what c10d throws, and c10::Error in a
// program that was built without CUDA.
c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

// Throws c10::Error unless LibTorch was compiled with version `header` (major,
// minor, patch) of nccl.h: c10d's options contain an NCCL structure by value,
// and its size depends on the version. Does nothing in a program that was built
// without CUDA.
void CheckNcclHeader(const std::array<int, 3>& header);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_NCCL_BACKEND_H_
