// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <tuple>
#include <utility>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/ddp/sync_base.h"

namespace trainbench {
namespace {

int64_t FirstBucketBytes(const SyncOptions& options) {
  return std::min<int64_t>(c10d::kDefaultFirstBucketBytes,
                           options.bucket_bytes);
}

std::unique_ptr<c10d::Reducer> MakeReducer(
    const SyncOptions& options, const std::vector<at::Tensor>& parameters,
    ProcessGroup& group) {
  TORCH_CHECK(options.bucket_bytes > 0, "a bucket of ", options.bucket_bytes,
              " bytes");
  const std::vector<bool> none_sparse(parameters.size(), false);
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters,
      {static_cast<std::size_t>(FirstBucketBytes(options)),
       static_cast<std::size_t>(options.bucket_bytes)},
      none_sparse));
  // The last layers' gradients come first.
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

// Calls c10d::Reducer as torch/nn/parallel/distributed.py of PyTorch 2.11 does.
class ReducerSync final : public SyncBase {
 public:
  ReducerSync(const SyncOptions& options, std::vector<at::Tensor> parameters,
              ProcessGroup& group)
      : SyncBase(std::move(parameters), group),
        reducer_(MakeReducer(options, this->parameters(), group)) {}

  void BeforeForward() override {
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();  // once, after the first step
  }

  void BeforeBackward() override {
    prepared_ = true;
    // No loss: only find_unused_parameters would walk its graph.
    reducer_->prepare_for_backward({});
  }

  void Finish() override {
    TORCH_CHECK(prepared_, "Finish() without BeforeBackward()");
    prepared_ = false;
    RequireGradients();
    Count();
    EndStep();
  }

 private:
  // The Reducer reports no traffic, but it sends every gradient once.
  void Count() {
    SyncTraffic& traffic = counting();
    for (const at::Tensor& parameter : parameters()) {
      traffic.bytes += static_cast<int64_t>(parameter.nbytes());
    }
    traffic.copied_bytes = traffic.bytes;
    traffic.calls =
        static_cast<int64_t>(reducer_->get_grad_buckets(false).size());
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
