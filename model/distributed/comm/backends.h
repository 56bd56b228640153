// SPDX-License-Identifier: MIT
// The backends of c10d under a ProcessGroup.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_BACKENDS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_BACKENDS_H_

#include <array>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Throws what c10d throws. From this call on, the process ignores SIGPIPE: a
// write to a broken pipe returns an error instead of ending the process.
c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

// For the current CUDA device. Throws what c10d throws, and c10::Error in a
// program that was built without CUDA.
c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

// Throws c10::Error unless LibTorch was compiled with version `header` (major,
// minor, patch) of nccl.h: c10d's options contain an NCCL structure by value,
// and its size depends on the version. Does nothing in a program that was built
// without CUDA.
void CheckNcclHeader(const std::array<int, 3>& header);

// Makes c10d end a failed collective of NCCL (mode 2, CleanUpOnly) instead of
// the process, so that the error can become every rank's; torchrun sets 1,
// TearDown. An error of CUDA does not end the process, either. Other values
// take precedence. Does nothing in a program that was built without CUDA.
void SetNcclEnvironment();

// Returns why c10d has ended a collective of this backend of NCCL, so that
// values and times since then are wrong; "" if it has not, and for other
// backends.
std::string NcclFailure(c10d::Backend& backend);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_BACKENDS_H_
