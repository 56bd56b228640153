// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <utility>

#include "model/distributed/ddp/bucket_plan.h"
#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/ddp/ordered_collectives.h"
#include "model/distributed/ddp/overlap_base.h"

namespace trainbench {
namespace {

struct Bucket {
  // Undefined for a single gradient, which is sent in place.
  at::Tensor values;
  std::size_t size = 0;     // number of gradients
  std::size_t awaited = 0;  // incomplete gradients in this step
};

// Where a parameter's gradient lies in the buckets.
struct Place {
  std::size_t bucket = 0;
  at::Tensor view;  // undefined for a single gradient
};

class OverlapBucketedSync final : public OverlapBase {
 public:
  OverlapBucketedSync(const SyncOptions& options,
                      std::vector<at::Tensor> parameters, ProcessGroup& group)
      : OverlapBase(std::move(parameters), group),
        plan_(PlanBuckets(this->parameters(), options.bucket_bytes)),
        places_(this->parameters().size()),
        collectives_(plan_.size(), [this](std::size_t bucket) {
          const at::Tensor& values = buckets_[bucket].values;
          return this->group().StartAllReduce(
              values.defined()
                  ? values
                  : this->parameters()[plan_[bucket].front()].grad());
        }) {
    for (const std::vector<std::size_t>& indices : plan_) AddBucket(indices);
  }

 private:
  void AddBucket(const std::vector<std::size_t>& indices) {
    std::vector<at::Tensor> tensors;
    for (const std::size_t i : indices) tensors.push_back(parameters()[i]);
    FlatBuffer buffer;
    buffer.views.resize(indices.size());
    if (indices.size() > 1) buffer = MakeFlatBuffer(tensors);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      places_[indices[k]] = {buckets_.size(), buffer.views[k]};
    }
    buckets_.push_back({buffer.values, indices.size(), indices.size()});
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
    Arrived(places_[i].bucket);
  }

  void Arrived(std::size_t index) {
    Bucket& bucket = buckets_[index];
    if (--bucket.awaited > 0) return;
    bucket.awaited = bucket.size;
    collectives_.MarkReady(index);
  }

  void WaitAll() override { collectives_.WaitAll(); }

  std::vector<std::vector<std::size_t>> plan_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;  // by parameter
  OrderedCollectives collectives_;
};

}  // namespace

std::unique_ptr<GradientSync> MakeOverlapBucketedSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group) {
  return std::make_unique<OverlapBucketedSync>(options, std::move(parameters),
                                               group);
}

}  // namespace trainbench
