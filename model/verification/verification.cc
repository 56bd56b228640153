// SPDX-License-Identifier: MIT

#include "model/verification/verification.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/dry_run/dry_run.h"
#include "model/spec/check_log.h"
#include "model/spec/status_macros.h"
#include "model/verification/inputs.h"
#include "model/verification/products.h"
#include "model/verification/reference.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

constexpr char kAfterwards[] = "after the timing";

// Allowed relative errors of logits and gradient, in norm: a few hundred
// roundings of 2^-24 (fp32), 2^-11 (tf32) or 2^-9 (bf16), which mostly cancel.
struct Tolerance {
  double logits;
  double gradient;
};

Tolerance ToleranceOf(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return {1e-4, 1e-3};
    case Precision::kTf32:
      return {1e-2, 2e-2};
    case Precision::kBf16Autocast:
    case Precision::kBf16:
      return {6e-2, 1e-1};
  }
  return {};
}

Batch Sequence(const Batch& batch, int64_t i) {
  return {batch.tokens.narrow(0, i, 1), batch.targets.narrow(0, i, 1)};
}

// A random batch with at most two distinct sequences, alternating, so that the
// reference computes only these.
struct CheckedBatch {
  CheckedBatch(const TransformerLm& model, const BatchShape& shape)
      : distinct(RandomBatch(model->config().vocab,
                             std::min<int64_t>(2, shape.batch), shape.seq,
                             model->lm_head->weight.device())) {
    const at::Tensor turns =
        at::arange(shape.batch, distinct.tokens.options()).remainder_(count());
    whole = {distinct.tokens.index_select(0, turns),
             distinct.targets.index_select(0, turns)};
  }

  int64_t count() const { return distinct.tokens.size(0); }
  int64_t size() const { return whole.tokens.size(0); }
  // The number of sequences in the batch that equal the i-th distinct one.
  int64_t repetitions(int64_t i) const {
    return (size() - i + count() - 1) / count();
  }

  Batch distinct;
  Batch whole;
};

// A dry run needs one of `count` references that take the same memory, one
// after the other.
int64_t Needed(int64_t count) { return DryRun::IsOn() ? 1 : count; }

// The reference loss of one sequence.
double ReferenceLoss(const TransformerLm& model, const Batch& sequence,
                     double along_gradient) {
  const at::Tensor logits =
      ReferenceLogits(model, sequence.tokens, along_gradient);
  return at::cross_entropy_loss(logits.flatten(0, 1),
                                sequence.targets.flatten())
      .item<double>();
}

double ReferenceLoss(const TransformerLm& model, const CheckedBatch& batch,
                     double along_gradient) {
  double sum = 0;
  for (int64_t i = 0; i < Needed(batch.count()); ++i) {
    sum += static_cast<double>(batch.repetitions(i)) *
           ReferenceLoss(model, Sequence(batch.distinct, i), along_gradient);
  }
  return sum / static_cast<double>(batch.size());
}

StepFunctions Complete(StepFunctions functions, TransformerLm& model,
                       Precision precision) {
  if (!functions.logits) {
    functions.logits = [&model, precision](const at::Tensor& tokens) {
      return RunStep(StepMode::kInference, model, nullptr,
                     {.tokens = tokens, .targets = {}}, precision);
    };
  }
  if (!functions.gradients) {
    functions.gradients = [&model, precision](const Batch& batch) {
      return ComputeGradients(model, batch, precision);
    };
  }
  return functions;
}

absl::Status VerifyLogits(const TransformerLm& model, const CheckedBatch& batch,
                          Precision precision, const at::Tensor& actual) {
  for (int64_t i = 0; i < Needed(batch.count()); ++i) {
    const at::Tensor expected =
        ReferenceLogits(model, Sequence(batch.distinct, i).tokens);
    for (int64_t b = i; b < batch.size(); b += batch.count()) {
      RETURN_IF_ERROR(
          CheckError("logits", RelativeError(actual.narrow(0, b, 1), expected),
                     ToleranceOf(precision).logits));
    }
  }
  return absl::OkStatus();
}

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return a.flatten()
      .to(at::kDouble)
      .dot(b.flatten().to(at::kDouble))
      .item<double>();
}

// Expects the gradients in the parameters, and replaces each g by the direction
// d = g + |g| n, where |g| is the norm over all parameters and n is normally
// distributed.
//
// The slope along d should be g.d. Along g alone it would be |g|^2 even if
// parts of g were missing. With n, the difference divided by |g|^2 is in root
// mean square at least the relative error of g, whatever its direction.
absl::Status VerifyGradients(const TransformerLm& model,
                             const CheckedBatch& batch, Precision precision) {
  double squared_norm = 0;
  for (const at::Tensor& parameter : Parameters(model)) {
    if (!parameter.grad().defined()) {
      return absl::FailedPreconditionError("a parameter has no gradient");
    }
    squared_norm += Dot(parameter.grad(), parameter.grad());
  }
  double expected = 0, squared_length = 0;
  for (const at::Tensor& parameter : Parameters(model)) {
    const at::Tensor& g = parameter.grad();
    const at::Tensor d = g + at::randn_like(g) * std::sqrt(squared_norm);
    expected += Dot(g, d);
    squared_length += Dot(d, d);
    g.copy_(d);
  }
  // A displacement of norm 1e-3: small enough for the loss to be linear, large
  // enough for the difference of two losses to keep its digits.
  const double eps = 1e-3 / std::sqrt(squared_length);
  double slope = 0;
  for (const double step : {eps, -eps}) {
    slope += ReferenceLoss(model, batch, step) / (2 * step);
    if (DryRun::IsOn()) break;
  }
  return CheckError("gradient", std::abs(slope - expected) / squared_norm,
                    ToleranceOf(precision).gradient);
}

// One tensor of each kind, since copying all would cost too much: a norm and a
// matrix of the first block, and the last norm.
std::vector<at::Tensor> SomeParameters(const TransformerLm& model) {
  return {model->layers.front()->ln1->weight,
          model->layers.front()->attn->q_proj->weight, model->ln_final->weight};
}

// Small weights, which bf16 resolves well: a matrix of the first block and the
// head's rows for some tokens.
at::Tensor SmallWeights(const TransformerLm& model) {
  const at::NoGradGuard no_grad;
  const at::Tensor head = model->lm_head->weight;
  const int64_t tokens = std::min<int64_t>(64, head.size(0));
  return at::cat({model->layers.front()->attn->q_proj->weight.flatten(),
                  head.narrow(0, 0, tokens).flatten()});
}

absl::Status CheckMoved(const at::Tensor& before, const at::Tensor& after) {
  if (!after.isfinite().all().item<bool>()) {
    return absl::FailedPreconditionError("weights are no longer finite");
  }
  if (!after.equal(before)) return absl::OkStatus();
  // A step is about as large as the learning rate, but smaller if the gradient
  // has changed its sign.
  const double step = 1e-2 * AdamWOptions().lr;
  const double unit = after.scalar_type() == at::kBFloat16 ? 0x1p-9 : 0x1p-24;
  if (after.abs().min().item<double>() * unit > step) {
    AddToCheckLog("weights", "unmoved: bf16 rounds a step away");
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("a train step changed no weight");
}

}  // namespace

absl::Status VerifyMoves(const TransformerLm& model,
                         const std::function<void()>& step) {
  const at::Tensor before = SmallWeights(model);
  step();
  return CheckMoved(before, SmallWeights(model));
}

absl::Status VerifyFirstUpdate(const std::vector<at::Tensor>& parameters,
                               AdamW& optimizer) {
  const at::NoGradGuard no_grad;
  const AdamWOptions& options = optimizer.options();
  std::vector<at::Tensor> expected;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor w = parameter.detach().to(at::kDouble);
    const at::Tensor g = parameter.grad().to(at::kDouble);
    // Moments start at 0, so bias correction turns them into g and g^2.
    expected.push_back(w - options.lr * (g / (g.abs() + options.eps) +
                                         options.weight_decay * w));
  }
  optimizer.Step();
  double worst = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& weight = parameters[i];
    // Decay and step each round once: twice the unit roundoff. The second
    // moment of a tiny gradient also loses digits relative to eps: a thousandth
    // of the step.
    const double ulp = weight.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-23;
    const at::Tensor allowed =
        expected[i].abs() * ulp + options.lr * std::max(1e-3, 4 * ulp);
    const at::Tensor error =
        (weight.detach().to(at::kDouble) - expected[i]).abs() / allowed;
    worst = std::max(worst, error.max().item<double>());
  }
  absl::Status status = CheckError("update", worst, 1.0);
  for (const at::Tensor& parameter : parameters) {
    if (status.ok()) status = CheckVaried("a gradient", parameter.grad());
  }
  return status;
}

absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision, const BatchShape& shape,
                        const StepFunctions& functions) {
  const CheckedBatch batch(model, shape);
  const auto [logits, gradients] = Complete(functions, model, precision);
  absl::Status status =
      ProveProducts(ForwardProducts(model, batch.whole, precision), precision);
  if (status.ok()) {
    status = VerifyLogits(model, batch, precision, logits(batch.whole.tokens));
  }
  if (!status.ok() || !HasBackward(mode)) return status;
  gradients(batch.whole);
  status = VerifyGradients(model, batch, precision);
  if (status.ok() && mode == StepMode::kTrainStep) {
    TORCH_CHECK(optimizer != nullptr, "a train step needs an optimizer");
    status = VerifyFirstUpdate(SomeParameters(model), *optimizer);
  }
  ReleaseGradients(model);
  return status;
}

absl::Status VerifyOutput(StepMode mode, TransformerLm& model, AdamW* optimizer,
                          const Batch& batch, Precision precision) {
  return VerifyOutput(mode, model, batch, precision, [&] {
    return RunStep(mode, model, optimizer, batch, precision);
  });
}

absl::Status VerifyOutput(StepMode mode, const TransformerLm& model,
                          const Batch& batch, Precision precision,
                          const std::function<at::Tensor()>& run) {
  const double allowed = ToleranceOf(precision).logits;
  const int64_t sequences = batch.tokens.size(0);
  if (!HasBackward(mode)) {
    const Batch last = Sequence(batch, sequences - 1);
    return CheckError("logits",
                      RelativeError(run().narrow(0, sequences - 1, 1),
                                    ReferenceLogits(model, last.tokens)),
                      allowed, kAfterwards);
  }
  double expected = 0;
  for (int64_t i = 0; i < Needed(sequences); ++i) {
    expected += ReferenceLoss(model, Sequence(batch, i), 0) /
                static_cast<double>(sequences);
  }
  const at::Tensor before = SmallWeights(model);
  const auto loss = run().item<double>();
  const absl::Status status =
      CheckError("loss", std::abs(loss - expected) / std::max(1.0, expected),
                 allowed, kAfterwards);
  if (!status.ok() || mode != StepMode::kTrainStep) return status;
  return CheckMoved(before, SmallWeights(model));
}

}  // namespace trainbench
