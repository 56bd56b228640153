// SPDX-License-Identifier: MIT

#include "model/distributed/trainer/parallel_verification.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/spec/check_log.h"
#include "model/spec/phase.h"
#include "model/training/adamw.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

// Limit for a sum of a few values that is rounded a few times. On a GPU,
// attention also adds in a random order, in the precision of its operands.
double Allowed(Precision precision, const at::Tensor& of) {
  if (precision == Precision::kBf16) return 0x1p-6;
  if (precision == Precision::kFp32 || of.is_cpu()) return 1e-5;
  return precision == Precision::kTf32 ? 1e-2 : 0x1p-6;
}

// Whether two passes over the same batch compute the same bits.
bool IsExact(Precision precision, const at::Tensor& of) {
  return precision == Precision::kFp32 && of.is_cpu();
}

// Limit for a parameter's wrong moves. Rounding reverses up to 0.6 % of them, a
// missing rank about a quarter.
constexpr double kAllowedMoves = 0.05;
// The same if the exact gradient is 0, so that about half are reversed.
constexpr double kAllowedNoise = 0.9;
// Limit for a parameter's relative error in fp32, which reverses no moves.
constexpr double kAllowedUpdate = 1e-4;

// The share of wrong moves among the elements that a first step moves by about
// lr * sign(g) and that are small enough to show it; two may be wrong. 1 if any
// element is further off than by a reversed move.
double WrongMoves(const at::Tensor& start, const at::Tensor& expected,
                  const at::Tensor& found, double lr) {
  const double ulp = found.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-23;
  const at::Tensor from = start.to(at::kFloat), to = expected.to(at::kFloat);
  const at::Tensor unit = from.abs() * ulp;
  const at::Tensor error = (found.to(at::kFloat) - to).abs();
  if ((error > unit + 2.1 * lr).any().item<bool>()) return 1;
  const at::Tensor moves = ((to - from).abs() > lr / 2) & (unit < lr / 4);
  const auto wrong = (moves & (error > lr / 2)).sum().item<double>();
  return std::max(wrong - 2, 0.0) / std::max(moves.sum().item<double>(), 1.0);
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

std::vector<at::Tensor> CopiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& one : tensors) copies.push_back(one.detach().clone());
  return copies;
}

void CopyValues(const std::vector<at::Tensor>& from,
                const std::vector<at::Tensor>& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

// AdamW's first moments: their number and the sum of their squares.
struct Moments {
  double count = 0, squares = 0;
};

Moments MomentsOf(const AdamW& adamw) {
  Moments all;
  for (const at::Tensor& moments : adamw.first_moments()) {
    all.count += static_cast<double>(moments.numel());
    all.squares += std::pow(moments.norm(2, at::kDouble).item<double>(), 2);
  }
  return all;
}

// Steps this process's own model with the mean of all ranks' gradients.
Moments StepOnMean(TransformerLm& model, const AdamWOptions& options,
                   const Batch& batch, Precision precision,
                   ProcessGroup& group) {
  ComputeGradients(model, batch, precision);
  AverageGradients(TrainableParameters(*model), group);
  AdamW adamw(TrainableParameters(*model), AdamWKind::kFused, options);
  adamw.Step();
  ReleaseGradients(model);
  return MomentsOf(adamw);
}

double SumOverRanks(double mine, ProcessGroup& group) {
  const at::Tensor sum = at::full({1}, mine, at::kDouble);
  group.cpu_group().AllReduce(sum);
  return sum.item<double>();
}

// A first step does not depend on the scale of the gradient, but the moments
// do. The ranks may have copies of them, or shards, which are padded.
absl::Status VerifyScale(const Moments& found, const Moments& expected,
                         double allowed, ProcessGroup& group) {
  const double copies =
      std::round(SumOverRanks(found.count, group) / expected.count);
  const double scale =
      std::sqrt(SumOverRanks(found.squares, group) / copies / expected.squares);
  return CheckError("scale", std::abs(scale - 1), allowed);
}

}  // namespace

at::Tensor MeasureOf(const TransformerLm& model, const at::Tensor& parameter) {
  if (model->config().positions == Positions::kRope) return parameter;
  for (const Block& layer : model->layers) {
    const Attention& attention = layer->attn;
    if (parameter.is_same(attention->k_proj->bias)) {
      return attention->q_proj->bias;
    }
  }
  return parameter;
}

absl::Status VerifyGradients(TransformerLm& model, ParallelTrainer& trainer,
                             const Batch& batch, Precision precision,
                             ProcessGroup& group) {
  const std::vector<at::Tensor> parameters = TrainableParameters(*model);
  const auto local = LocalGradients(model, parameters, batch, precision);
  ComputeMeanGradients(model, trainer, batch, precision);
  absl::Status status;  // every rank compares all tensors, even after an error
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor mean = Mean(local[i], group);
    const at::Tensor& found = parameters[i].grad();
    const at::Tensor measure = MeasureOf(model, parameters[i]);
    const double error =
        measure.is_same(parameters[i]) || IsExact(precision, found)
            ? RelativeError(found, mean)
            : ((found - mean).norm() / measure.grad().norm()).item<double>();
    status.Update(CheckError("gradient", error, Allowed(precision, found),
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
  const std::vector<at::Tensor> start = CopiesOf(found);
  trainer.Free();
  CopyValues(start, expected);
  const AdamWOptions& options = trainer.optimizer().options();
  const Moments moments = StepOnMean(whole, options, batch, precision, group);
  RunParallelStep(model, trainer, batch, precision);
  trainer.Gather();
  absl::Status status = VerifyReplicas(found, group);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string where = absl::StrCat("in parameter ", i);
    const bool is_noise = !IsExact(precision, found[i]) &&
                          !MeasureOf(whole, expected[i]).is_same(expected[i]);
    status.Update(CheckError(
        "moves", WrongMoves(start[i], expected[i], found[i], options.lr),
        is_noise ? kAllowedNoise : kAllowedMoves, where));
    if (is_noise || precision != Precision::kFp32) continue;
    status.Update(CheckError("update", RelativeError(found[i], expected[i]),
                             kAllowedUpdate, where));
  }
  trainer.Free();
  status.Update(VerifyScale(MomentsOf(trainer.optimizer()), moments,
                            Allowed(precision, found.front()), group));
  return status;
}

}  // namespace trainbench
