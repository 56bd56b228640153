// SPDX-License-Identifier: MIT
// c10d's Gloo backend. Its header needs Gloo's, which the wheel lacks, so one
// translation unit is shown stand-ins (gloo_stubs/) and nobody else is.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Throws what c10d throws.
c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_BACKEND_H_
