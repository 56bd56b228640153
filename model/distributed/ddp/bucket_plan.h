// SPDX-License-Identifier: MIT
// Groups gradients into buckets, each sent by one all-reduce.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainbench {

// The tensor indices of each bucket, in sending order. Tensors are taken in
// reverse, because a backward pass completes the gradients of the last layers
// first. A bucket takes tensors of one dtype and device while they fit into
// `bucket_bytes`; a larger tensor is a bucket of its own. Throws c10::Error
// unless bucket_bytes > 0.
std::vector<std::vector<std::size_t>> PlanBuckets(
    const std::vector<at::Tensor>& tensors, int64_t bucket_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_BUCKET_PLAN_H_
