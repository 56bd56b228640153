// SPDX-License-Identifier: MIT
// Passes over memory on all threads of a CPU, as in STREAM (McCalpin, 1995):
// the most bytes per second that its memory moves.

#ifndef TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_
#define TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

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
inline constexpr auto kStreamKernels = StreamKernelName.values();

// How a result gets to memory. An ordinary store first loads the line that it
// overwrites; a non-temporal one does not, and leaves the caches alone.
enum class Stores { kOrdinary, kNonTemporal };

inline constexpr EnumNames<Stores, 2> StoresName{"ordinary", "non_temporal"};
inline constexpr auto kStores = StoresName.values();

// What memory moves in a pass over buffers of `bytes` each, the lines that
// ordinary stores load included.
double StreamTraffic(StreamKernel kernel, Stores stores, int64_t bytes);

// How many buffers of this size the kernel has.
int StreamBuffers(StreamKernel kernel);

// Why this build has no such pass, or "": non-temporal stores are x86's here.
std::string StreamUnavailable(StreamKernel kernel, Stores stores);

class Stream {
 public:
  // `bytes` (a multiple of 64) per buffer, in fp32.
  Stream(StreamKernel kernel, Stores stores, int64_t bytes);

  void Run();
  // Overwrites the result, runs, and compares with LibTorch's operators to the
  // last bit; the sum to 1e-4. DataLoss gives the number of elements that
  // differ. Refuses constant operands.
  absl::Status Verify();

 private:
  StreamKernel kernel_;
  Stores stores_;
  at::Tensor a_, b_, c_;
  double sum_ = 0;
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_PEAK_STREAM_H_
