// SPDX-License-Identifier: MIT
// A backend of c10d without other ranks.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Sends nothing, waits for nobody and leaves all values as they are. A call
// that this project does not make is a c10::Error of c10d's.
c10::intrusive_ptr<c10d::Backend> MakeFakeBackend(const GroupOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_FAKE_BACKEND_H_
