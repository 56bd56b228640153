// SPDX-License-Identifier: MIT
// An operation of a stream or a graph.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_OPERATION_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_OPERATION_H_

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/rates.h"

namespace null_gpu {

// CUDA's opaque handles point to the objects of the null GPU (stream.h,
// capture.h).
using Stream = CUstream_st;
using Event = CUevent_st;
using Graph = CUgraph_st;
using GraphNode = CUgraphNode_st;
using GraphExec = CUgraphExec_st;

// Memory that an operation reads or writes.
struct Access {
  const char* begin;
  // 0 if only a pointer is known: the rest of its block counts.
  size_t bytes;
  bool writes;
  uint64_t block = 0;  // which allocation; order/locate.h fills it in
};

using Accesses = std::vector<Access>;

inline Access ReadOf(const void* from, size_t bytes = 0) {
  return {static_cast<const char*>(from), bytes, /*writes=*/false};
}
inline Access WriteOf(const void* to, size_t bytes = 0) {
  return {static_cast<const char*>(to), bytes, /*writes=*/true};
}

// The work of a kernel, which predicts its time.
struct Work {
  double flops = 0;
  double bytes = 0;  // of a product's matrices; of a collective on the links
  Arithmetic arithmetic = Arithmetic::kFp32;
  double seq = 0;  // tokens of a sequence in attention, otherwise 0
  bool is_backward = false;
};

// Longer than any test.
constexpr int64_t kForever = int64_t{1} << 62;

struct Operation {
  enum class Kind {
    kKernel,
    kCopy,
    kFill,
    kEventRecord,  // in a capture: of an external event
    kEventWait,
    kEmpty,
  };
  Kind kind = Kind::kEmpty;
  int64_t nanoseconds = 1000;  // on the device, made up or predicted

  Kernel* kernel = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  size_t shared_bytes = 0;
  std::vector<std::byte> argument;  // of a kernel with a body
  bool is_collective = false;       // one of NCCL's kernels
  Work work;
  size_t collective_bytes = 0;

  cudaMemcpyKind direction = cudaMemcpyDeviceToDevice;
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;     // of a copy or a fill
  int value = 0;        // of a fill
  bool pinned = false;  // the host's side of a copy

  Event* event = nullptr;

  Accesses accesses;  // to memory, if memory is watched
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_OPERATION_H_
