// SPDX-License-Identifier: MIT
// A buffer for measuring and verifying an all-reduce.

#ifndef TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_
#define TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

class AllReduceBuffer {
 public:
  // The most bytes while VerifySum compares, the buffer's own included.
  static int64_t PeakBytes(int64_t bytes);

  // bytes / 4 random fp32 values on `device`. `group` must outlive the buffer.
  AllReduceBuffer(int64_t bytes, c10::Device device, ProcessGroup& group);

  // Sums the buffer over all ranks, in place. After the first call all ranks
  // hold the same values, so each call makes them as many times as large.
  void Reduce();

  // Shrinks the values where a next call might overflow. Infinities would be
  // constants.
  void KeepFinite();

  // CheckVaried (inputs.h) of the values as the calls left them.
  absl::Status CheckValues() const;

  // Sums values that differ by rank and position, with every partial sum exact
  // in fp32. DataLoss gives the first wrong element. Fills and compares part by
  // part, so that as many ranks as fit can also check.
  absl::Status VerifySum();

 private:
  ProcessGroup& group_;
  at::Tensor values_;
  double growth_ = 1;  // since the values were drawn from [0, 1) or shrunk
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_
