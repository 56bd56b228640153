// SPDX-License-Identifier: MIT
// c10d's Gloo backend. c10d's header includes Gloo's headers, which the wheel
// lacks. Only gloo_backend.cc sees their stand-ins (gloo_stubs/).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Throws what c10d throws. From now on a broken pipe is an error of the write
// for this process, not its end.
c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
