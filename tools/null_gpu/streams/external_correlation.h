// SPDX-License-Identifier: MIT
// The ids that a profiler pushes on the calling thread, by kind.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EXTERNAL_CORRELATION_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EXTERNAL_CORRELATION_H_

#include <cupti.h>

#include <cstdint>
#include <map>

namespace null_gpu {

void PushExternalId(CUpti_ExternalCorrelationKind kind, uint64_t id);

// Returns false if there is none.
bool PopExternalId(CUpti_ExternalCorrelationKind kind, uint64_t* id);

// Returns the innermost id of each kind that has one.
std::map<CUpti_ExternalCorrelationKind, uint64_t> ExternalIds();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EXTERNAL_CORRELATION_H_
