// SPDX-License-Identifier: MIT
// A c10d backend without other ranks.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Sends nothing, does not wait and leaves all values unchanged. Calls that this
// project does not make throw c10d's c10::Error.
c10::intrusive_ptr<c10d::Backend> MakeFakeBackend(const GroupOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
