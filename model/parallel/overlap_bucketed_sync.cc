// SPDX-License-Identifier: MIT

#include <cstddef>
#include <utility>

#include "model/parallel/bucket_plan.h"
#include "model/parallel/flat_buffer.h"
#include "model/parallel/ordered_collectives.h"
#include "model/parallel/overlap_base.h"
#include "model/parallel/sync_strategies.h"

namespace trainbench {
namespace {

struct Bucket {
  at::Tensor values;
  std::size_t size = 0;     // gradients
  std::size_t awaited = 0;  // of them, in this step
};

// Where a parameter's gradient belongs.
struct Place {
  std::size_t bucket = 0;
  at::Tensor view;
};

class OverlapBucketedSync final : public OverlapBase {
 public:
  OverlapBucketedSync(const SyncOptions& options,
                      std::vector<at::Tensor> parameters, ProcessGroup& group)
      : OverlapBase(options, std::move(parameters), group),
        plan_(PlanBuckets(this->parameters(), options.bucket_bytes)),
        places_(this->parameters().size()),
        collectives_(plan_.size(), [this](std::size_t bucket) {
          return StartAllReduce(buckets_[bucket].values);
        }) {
    for (const std::vector<std::size_t>& indices : plan_) AddBucket(indices);
  }

 private:
  void AddBucket(const std::vector<std::size_t>& indices) {
    std::vector<at::Tensor> tensors;
    for (const std::size_t i : indices) tensors.push_back(parameters()[i]);
    FlatBuffer buffer = MakeFlatBuffer(tensors);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      places_[indices[k]] = {buckets_.size(), buffer.views[k]};
    }
    buckets_.push_back({buffer.values, indices.size(), indices.size()});
  }

  void OnGradient(std::size_t i) override {
    CopyShare(parameters()[i].grad(), places_[i].view);
    Arrived(i);
  }
  void OnMissing(std::size_t i) override {
    places_[i].view.zero_();
    Arrived(i);
  }

  void Arrived(std::size_t i) {
    // A view of the bucket saves the copy back, and frees the gradient now.
    parameters()[i].mutable_grad() = places_[i].view;
    Bucket& bucket = buckets_[places_[i].bucket];
    if (--bucket.awaited > 0) return;
    bucket.awaited = bucket.size;
    collectives_.MarkReady(places_[i].bucket);
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
