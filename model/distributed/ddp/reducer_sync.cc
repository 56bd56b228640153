// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <tuple>
#include <utility>

#include "model/distributed/ddp/gradient_sync.h"

namespace trainbench {
namespace {

// As with the default of `bucket_cap_mb`, or with another one.
int64_t FirstBucketBytes(const SyncOptions& options) {
  return options.bucket_bytes == kDefaultBucketBytes
             ? c10d::kDefaultFirstBucketBytes
             : options.bucket_bytes;
}

std::unique_ptr<c10d::Reducer> MakeReducer(
    const SyncOptions& options, const std::vector<at::Tensor>& parameters,
    ProcessGroup& group) {
  TORCH_CHECK(options.bucket_bytes > 0, "a bucket of ", options.bucket_bytes,
              " bytes");
  const std::vector<bool> none_sparse(parameters.size(), false);
  // One for each dtype, until the first step has shown the gradients' order.
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters, {std::numeric_limits<std::size_t>::max()}, none_sparse));
  std::reverse(buckets.begin(), buckets.end());
  return std::make_unique<c10d::Reducer>(
      parameters, std::move(buckets), group.c10d_group(), none_sparse,
      options.bucket_bytes,
      /*find_unused_parameters=*/false,
      /*gradient_as_bucket_view=*/true,
      /*param_names=*/std::unordered_map<std::size_t, std::string>{},
      FirstBucketBytes(options), /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false,
      /*bucket_bytes_cap_list=*/std::vector<int64_t>{});
}

// Calls c10d::Reducer as torch/nn/parallel/distributed.py of PyTorch 2.11 does
// with gradient_as_bucket_view=True.
class ReducerSync final : public GradientSync {
 public:
  ReducerSync(const SyncOptions& options, std::vector<at::Tensor> parameters,
              ProcessGroup& group)
      : GradientSync(std::move(parameters), group),
        reducer_(MakeReducer(options, this->parameters(), group)) {}

  void BeforeForward() override {
    if (!exchanges()) return;
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();  // once, after the first step
  }

  void BeforeBackward() override {
    if (!exchanges()) return;
    prepared_ = true;
    // Without the loss: only find_unused_parameters would traverse its graph.
    reducer_->prepare_for_backward({});
  }

 private:
  // The Reducer has already waited in backward().
  void Average() override {
    TORCH_CHECK(prepared_, "Finish() without BeforeBackward()");
    prepared_ = false;
    for (const c10d::GradBucket& bucket : reducer_->get_grad_buckets(false)) {
      const at::Tensor& values = bucket.getBuffer();
      CountCopied(values);
      group().Record({.kind = CollectiveKind::kAllReduce,
                      .bytes = static_cast<int64_t>(values.nbytes()),
                      .async_op = true});
    }
  }

  std::unique_ptr<c10d::Reducer> reducer_;
  bool prepared_ = false;
};

}  // namespace

std::unique_ptr<GradientSync> MakeReducerSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group) {
  return std::make_unique<ReducerSync>(options, std::move(parameters), group);
}

}  // namespace trainbench
