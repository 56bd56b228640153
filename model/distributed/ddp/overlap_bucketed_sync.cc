// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <utility>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/gradient_sync.h"

namespace trainbench {
namespace {

struct Bucket {
  std::vector<std::size_t> parameters;
  // Undefined for a single gradient, which is sent in place.
  at::Tensor values;
  std::size_t awaited = 0;  // incomplete gradients in this step
};

// Where a parameter's gradient lies in the buckets.
struct Place {
  std::size_t bucket = 0;
  at::Tensor view;  // undefined for a single gradient
};

class OverlapBucketedSync final : public OverlapBase {
 public:
  OverlapBucketedSync(int64_t bucket_bytes, std::vector<at::Tensor> parameters,
                      ProcessGroup& group)
      : OverlapBase(std::move(parameters), group),
        places_(this->parameters().size()) {
    for (auto& indices : PlanBuckets(this->parameters(), bucket_bytes)) {
      AddBucket(std::move(indices));
    }
  }

 private:
  void AddBucket(std::vector<std::size_t> indices) {
    std::vector<at::Tensor> tensors;
    for (const std::size_t i : indices) tensors.push_back(parameters()[i]);
    FlatBuffer buffer;
    buffer.views.resize(indices.size());
    if (indices.size() > 1) buffer = MakeFlatBuffer(tensors);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      places_[indices[k]] = {buckets_.size(), buffer.views[k]};
    }
    const std::size_t size = indices.size();
    buckets_.push_back({std::move(indices), buffer.values, size});
  }

  void OnGradient(std::size_t i) override {
    const at::Tensor& view = places_[i].view;
    at::Tensor& gradient = parameters()[i].mutable_grad();
    if (view.defined()) {
      CopyShare(gradient, view);
      // Avoids the copy back, and frees the original gradient now.
      gradient = view;
    } else {
      gradient.mul_(share());
    }
    --buckets_[places_[i].bucket].awaited;
    StartComplete();
  }

  // Starts each bucket as soon as it and all earlier ones are complete. Ranks
  // must start the same collectives in the same order, but their backward
  // passes may complete gradients in different orders.
  void StartComplete() {
    while (started_.size() < buckets_.size() &&
           buckets_[started_.size()].awaited == 0) {
      const Bucket& bucket = buckets_[started_.size()];
      started_.push_back(group().StartAllReduce(
          bucket.values.defined()
              ? bucket.values
              : parameters()[bucket.parameters.front()].grad()));
    }
  }

  void WaitAll() override {
    for (Bucket& bucket : buckets_) bucket.awaited = bucket.parameters.size();
    for (Collective& collective : std::exchange(started_, {})) {
      Await(std::move(collective));
    }
  }

  std::vector<Bucket> buckets_;      // in sending order
  std::vector<Place> places_;        // by parameter
  std::vector<Collective> started_;  // by bucket
};

}  // namespace

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

std::unique_ptr<GradientSync> MakeOverlapBucketedSync(
    int64_t bucket_bytes, std::vector<at::Tensor> parameters,
    ProcessGroup& group) {
  return std::make_unique<OverlapBucketedSync>(bucket_bytes,
                                               std::move(parameters), group);
}

}  // namespace trainbench
