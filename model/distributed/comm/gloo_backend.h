// SPDX-License-Identifier: MIT
// c10d's Gloo backend. c10d's header includes Gloo's headers, which the wheel
// does not contain. Only gloo_backend.cc includes our stubs (gloo_stubs/).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Throws what c10d throws. From now on, the process ignores SIGPIPE unless it
// has a handler for it: a write to a broken pipe only returns an error.
c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
