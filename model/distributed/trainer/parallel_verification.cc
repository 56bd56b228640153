// SPDX-License-Identifier: MIT

#include "model/distributed/trainer/parallel_verification.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "model/spec/check_log.h"
#include "model/spec/phase.h"
#include "model/training/adamw.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

// Limit for a sum of a few values that is rounded to `dtype` a few times.
double Allowed(c10::ScalarType dtype) {
  return dtype == c10::kBFloat16 ? 0x1p-6 : 1e-5;
}

// A first step is about lr * sign(g) unless g is tiny, so only the rounding
// differs: in bf16 by up to 0.4 % of a parameter.
double AllowedOfUpdate(c10::ScalarType dtype) {
  return dtype == c10::kBFloat16 ? 1e-2 : 1e-4;
}

// This rank's gradients, computed without running hooks.
std::vector<at::Tensor> LocalGradients(
    TransformerLm& model, const std::vector<at::Tensor>& parameters,
    const Batch& batch, Precision precision) {
  const at::Tensor loss = ComputeLoss(model, batch, precision);
  return torch::autograd::grad({loss}, parameters);
}

at::Tensor Mean(const at::Tensor& gradient, ProcessGroup& group) {
  at::Tensor mean = gradient.to(at::kDouble).div_(group.size()).contiguous();
  group.AllReduce(mean);
  return mean;
}

void CopyValues(const std::vector<at::Tensor>& from,
                const std::vector<at::Tensor>& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

// Steps this process's own model with the mean of all ranks' gradients.
void StepOnMean(TransformerLm& model, const Batch& batch, Precision precision,
                ProcessGroup& group) {
  ComputeGradients(model, batch, precision);
  AverageGradients(TrainableParameters(*model), group);
  AdamW(TrainableParameters(*model), AdamWKind::kFused).Step();
  ReleaseGradients(model);
}

}  // namespace

absl::Status VerifyGradients(TransformerLm& model, ParallelTrainer& trainer,
                             const Batch& batch, Precision precision,
                             ProcessGroup& group) {
  const std::vector<at::Tensor> parameters = TrainableParameters(*model);
  const auto local = LocalGradients(model, parameters, batch, precision);
  ComputeMeanGradients(model, trainer, batch, precision);
  absl::Status status;  // every rank compares all tensors, even after an error
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    status.Update(CheckError(
        "gradient", RelativeError(parameters[i].grad(), Mean(local[i], group)),
        Allowed(parameters[i].scalar_type()),
        absl::StrCat("in parameter ", i)));
  }
  ReleaseGradients(model);
  return status;
}

absl::Status VerifyReplicas(const std::vector<at::Tensor>& tensors,
                            ProcessGroup& group) {
  // 1 + the index of the last tensor that differs, or the number of tensors
  // more if a value is not finite: NaN would differ even from itself.
  int64_t wrong = 0;
  const auto count = std::ssize(tensors);
  for (int64_t i = 0; i < count; ++i) {
    const at::Tensor& mine = tensors[static_cast<std::size_t>(i)];
    const at::Tensor root = mine.detach().clone();
    group.Broadcast(root, 0);
    if (mine.numel() > 0 && !RangeOf(mine).is_finite()) {
      wrong = count + i + 1;
    } else if (!at::equal(root, mine)) {
      wrong = std::max(wrong, i + 1);
    }
  }
  // Rank 0 always equals itself, so all ranks use the maximum.
  const at::Tensor last = at::full({1}, wrong, at::kLong);
  group.cpu_group().AllReduceMax(last);
  wrong = last.item<int64_t>();
  if (wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("parameter ", (wrong - 1) % count,
                   wrong > count ? " has values that are not finite"
                                 : " is no longer the same on all ranks"));
}

absl::Status VerifyUpdate(TransformerLm& model, ParallelTrainer& trainer,
                          TransformerLm& whole, const Batch& batch,
                          Precision precision, ProcessGroup& group) {
  const std::vector<at::Tensor> found = TrainableParameters(*model);
  const std::vector<at::Tensor> expected = TrainableParameters(*whole);
  trainer.Gather();
  CopyValues(found, expected);
  trainer.Free();
  StepOnMean(whole, batch, precision, group);
  RunParallelStep(model, trainer, batch, precision);
  trainer.Gather();
  absl::Status status = VerifyReplicas(found, group);
  for (std::size_t i = 0; i < found.size(); ++i) {
    status.Update(CheckError("update", RelativeError(found[i], expected[i]),
                             AllowedOfUpdate(found[i].scalar_type()),
                             absl::StrCat("in parameter ", i)));
  }
  trainer.Free();
  return status;
}

}  // namespace trainbench
