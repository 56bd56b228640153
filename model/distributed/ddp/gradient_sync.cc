// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/gradient_sync.h"

#include <torch/types.h>

#include <unordered_set>
#include <utility>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/trainer/parallel_trainer.h"

namespace trainbench {
namespace {

class PerParameterSync final : public GradientSync {
 public:
  using GradientSync::GradientSync;

 private:
  void Average() override { AverageGradients(parameters(), group()); }
};

class FlatSync final : public GradientSync {
 public:
  FlatSync(std::vector<at::Tensor> parameters, ProcessGroup& group)
      : GradientSync(std::move(parameters), group),
        buffer_(MakeFlatBuffer(this->parameters())) {}

 private:
  void Average() override {
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      CopyShare(parameters()[i].grad(), buffer_.views[i]);
    }
    group().AllReduce(buffer_.values);
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      parameters()[i].mutable_grad().copy_(buffer_.views[i]);
    }
    CountCopied(buffer_.values);
  }

  FlatBuffer buffer_;
};

}  // namespace

GradientSync::GradientSync(std::vector<at::Tensor> parameters,
                           ProcessGroup& group)
    : parameters_(std::move(parameters)), group_(group) {
  TORCH_CHECK(!parameters_.empty(), "no parameter requires a gradient");
  std::unordered_set<const c10::TensorImpl*> seen;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i];
    TORCH_CHECK(parameter.requires_grad() && parameter.is_leaf(),
                DescribeParameter(i, parameter),
                " is not a leaf that requires a gradient");
    TORCH_CHECK(parameter.is_contiguous(), DescribeParameter(i, parameter),
                " is not contiguous");
    TORCH_CHECK(seen.insert(parameter.unsafeGetTensorImpl()).second,
                DescribeParameter(i, parameter), " is listed twice");
  }
}

void GradientSync::CopyShare(const at::Tensor& gradient,
                             const at::Tensor& place) {
  CopyScaled(gradient, share(), place);
  CountCopied(gradient);
}

void GradientSync::CountCopied(const at::Tensor& tensor) {
  copied_bytes_ += static_cast<int64_t>(tensor.nbytes());
}

bool GradientSync::IsComplete(std::size_t index) const {
  return parameters_[index].grad().defined();
}

void GradientSync::Finish() {
  if (!exchanges_) return;
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    TORCH_CHECK(IsComplete(i), NoGradient(i, parameters_[i], group_));
  }
  Average();
  last_copied_bytes_ = std::exchange(copied_bytes_, 0);
}

OverlapBase::OverlapBase(std::vector<at::Tensor> parameters,
                         ProcessGroup& group)
    : GradientSync(std::move(parameters), group),
      heard_(this->parameters().size(), false),
      hooks_(this->parameters(), [this](std::size_t i) {
        if (!exchanges()) return;
        TORCH_CHECK(!heard_[i], DescribeParameter(i, this->parameters()[i]),
                    " got a second gradient before Finish() was called");
        heard_[i] = true;
        OnGradient(i);
      }) {}

void OverlapBase::Average() {
  heard_.assign(heard_.size(), false);
  WaitAll();
}

std::unique_ptr<GradientSync> MakeGradientSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group) {
  switch (options.strategy) {
    case SyncStrategy::kPerParameter:
      return std::make_unique<PerParameterSync>(std::move(parameters), group);
    case SyncStrategy::kFlat:
      return std::make_unique<FlatSync>(std::move(parameters), group);
    case SyncStrategy::kOverlapPerParameter:
      // So small a bucket has a single gradient.
      return MakeOverlapBucketedSync(/*bucket_bytes=*/1, std::move(parameters),
                                     group);
    case SyncStrategy::kOverlapBucketed:
      return MakeOverlapBucketedSync(options.bucket_bytes,
                                     std::move(parameters), group);
    case SyncStrategy::kReducer:
      return MakeReducerSync(options, std::move(parameters), group);
  }
  TORCH_CHECK(false, "no such strategy: ", static_cast<int>(options.strategy));
}

}  // namespace trainbench
