// SPDX-License-Identifier: MIT
// A buffer that the ranks sum, for measuring what a sum costs.

#ifndef TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_
#define TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

class AllReduceBuffer {
 public:
  // bytes / 4 random fp32 values on `device`. `group` must outlive the buffer.
  AllReduceBuffer(int64_t bytes, c10::Device device, ProcessGroup& group);

  // One sum over all ranks, in place. The values grow from call to call, at
  // last to infinity, which takes no longer to add.
  void Reduce() { group_.AllReduce(values_); }

  // Sums values that tell ranks and places apart and of which every partial sum
  // is exact in fp32. DataLoss says which element is wrong.
  absl::Status VerifySum();

 private:
  ProcessGroup& group_;
  at::Tensor values_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ALL_REDUCE_BUFFER_H_
