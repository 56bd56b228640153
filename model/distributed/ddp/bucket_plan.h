// SPDX-License-Identifier: MIT
// Groups gradients into buckets. Each bucket is sent by one all-reduce.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainbench {

// Returns the tensor indices of each bucket, in sending order. Tensors are
// taken in reverse order, because a backward pass completes the gradients of
// the last layers first. A bucket takes tensors of one dtype and device while
// they fit into `bucket_bytes`; a larger tensor gets its own bucket. Throws
// c10::Error unless bucket_bytes > 0.
std::vector<std::vector<std::size_t>> PlanBuckets(
    const std::vector<at::Tensor>& tensors, int64_t bucket_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_
