// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/bucket_plan.h"

namespace trainbench {

std::vector<std::vector<std::size_t>> PlanBuckets(
    const std::vector<at::Tensor>& tensors, int64_t bucket_bytes) {
  TORCH_CHECK(bucket_bytes > 0, "a bucket of ", bucket_bytes, " bytes");
  std::vector<std::vector<std::size_t>> buckets;
  int64_t filled = 0;
  for (std::size_t i = tensors.size(); i-- > 0;) {
    const at::Tensor& tensor = tensors[i];
    const auto bytes = static_cast<int64_t>(tensor.nbytes());
    const bool joins = !buckets.empty() && filled + bytes <= bucket_bytes &&
                       tensor.dtype() == tensors[i + 1].dtype() &&
                       tensor.device() == tensors[i + 1].device();
    if (!joins) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(i);
    filled += bytes;
  }
  return buckets;
}

}  // namespace trainbench
