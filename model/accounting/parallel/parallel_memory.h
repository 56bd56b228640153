// SPDX-License-Identifier: MIT
// Bytes that one rank keeps for parameters, gradients and optimizer.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_MEMORY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_MEMORY_H_

#include <cstdint>
#include <vector>

#include "model/spec/comm_backend.h"
#include "model/spec/parallel/optimizer_sharding.h"

namespace trainbench {

// Elements that RingReduceScatter allocates for `elements` values over `size`
// ranks: one segment being added and one being received.
int64_t RingBufferElements(int64_t elements, int size);

struct ParallelMemory {
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;   // the flat buffer, all the time
  int64_t optimizer_bytes = 0;  // both moments and the steps
  // Alive during Synchronize() only.
  int64_t buffer_bytes = 0;

  // Between steps.
  int64_t resident_bytes() const {
    return parameter_bytes + gradient_bytes + optimizer_bytes;
  }
};

// Symbols: N ranks; parameters of E elements, w = `width` bytes each, in T
// tensors; E_r elements in T_r tensors that this rank owns (AssignOwners); E',
// E rounded up to a multiple of N.
//
//               parameters  gradients  optimizer        buffer
//   replicated  w E         w E'       2 w E + 4 T      -
//   sharded     w E'        w E'       2 w E' / N + 4   2 w min(E' / N, 2^18)
//   broadcast   w E         w E'       2 w E_r + 4 T_r  -
//
// The buffer receives the values of Gloo's ring
// (model/distributed/comm/ring.h), if there is more than one rank; NCCL needs
// none. The fused kernel keeps one fp32 step count per tensor that it updates.
ParallelMemory EstimateParallelMemory(OptimizerSharding sharding,
                                      const std::vector<int64_t>& elements,
                                      int rank, int ranks, CommBackend backend,
                                      int64_t width = 4);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_MEMORY_H_
