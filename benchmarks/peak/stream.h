// SPDX-License-Identifier: MIT
// Passes over memory on all threads of a CPU, as in STREAM (McCalpin, 1995), by
// LibTorch's operators, or by own loops with stores that LibTorch does not use.

#ifndef TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_
#define TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/spec/enum_names.h"

namespace trainbench {

enum class StreamKernel {
  kCopy,    // a = b
  kScale,   // a = s b
  kAdd,     // a = b + c
  kTriad,   // a = b + s c
  kUpdate,  // a = -a
  kRead,    // the sum of a
};

inline constexpr EnumNames<StreamKernel, 6> StreamKernelName{
    "copy", "scale", "add", "triad", "update", "read"};

// How a result is stored to memory. An ordinary store first loads the line that
// it overwrites; a non-temporal one does not, and bypasses the caches.
enum class Stores { kOrdinary, kNonTemporal };

inline constexpr EnumNames<Stores, 2> StoresName{"ordinary", "non_temporal"};

// Returns the bytes that memory moves in a pass over buffers of `bytes` each,
// including the lines that ordinary stores load.
double StreamTraffic(StreamKernel kernel, Stores stores, int64_t bytes);

class Stream {
 public:
  // `bytes` (a multiple of 64) per buffer, in fp32.
  Stream(StreamKernel kernel, Stores stores, int64_t bytes);

  void Run();
  // Overwrites the result, runs, and compares with the other kind of stores bit
  // by bit; a sum with one in float64, to 1e-4. DataLoss gives the number of
  // elements that differ. Reports constant operands.
  absl::Status Verify();

 private:
  void RunInto(const at::Tensor& a, Stores stores);

  StreamKernel kernel_;
  Stores stores_;
  at::Tensor scalar_, sum_, a_, b_, c_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_
