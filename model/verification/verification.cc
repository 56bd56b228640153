// SPDX-License-Identifier: MIT

#include "model/verification/verification.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "model/verification/reference.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

constexpr int64_t kTokens = 16;

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

absl::Status Compare(absl::string_view what, double error, double allowed) {
  if (error <= allowed) return absl::OkStatus();  // false for NaN too
  return absl::FailedPreconditionError(
      absl::StrFormat("%s differ from float64 by %.3g relative; allowed: %.3g",
                      std::string(what), error, allowed));
}

double ReferenceLoss(const TransformerLm& model, const Batch& batch,
                     double along_gradient) {
  const at::Tensor logits =
      ReferenceLogits(model, batch.tokens, along_gradient);
  return at::cross_entropy_loss(logits.flatten(0, 1), batch.targets.flatten())
      .item<double>();
}

double LogitsErrorOn(TransformerLm& model, const Batch& batch,
                     Precision precision) {
  NullObserver nobody;
  const at::Tensor actual =
      RunStep(StepMode::kInference, model, nullptr, batch, precision, nobody);
  return RelativeError(actual, ReferenceLogits(model, batch.tokens));
}

Batch ShortBatch(const TransformerLm& model) {
  return RandomBatch(model->config().vocab, 1, kTokens,
                     model->lm_head->weight.device());
}

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return a.flatten()
      .to(at::kDouble)
      .dot(b.flatten().to(at::kDouble))
      .item<double>();
}

// Expects the gradients in the parameters, and replaces each g by the direction
// d = g + |g| n, with |g| the norm over all parameters and n normally
// distributed.
//
// The slope along d should be g.d. Along g alone it would be |g|^2 even if some
// of g were missing. With n, the difference divided by |g|^2 is as large as the
// relative error of g, whatever its direction.
absl::Status VerifyGradients(const TransformerLm& model, const Batch& batch,
                             Precision precision) {
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
  const double slope =
      (ReferenceLoss(model, batch, eps) - ReferenceLoss(model, batch, -eps)) /
      (2 * eps);
  return Compare("gradients", std::abs(slope - expected) / squared_norm,
                 ToleranceOf(precision).gradient);
}

// One tensor of each kind, since copying all costs too much: a norm and a
// matrix of the first block, and the last norm.
std::vector<at::Tensor> SomeParameters(const TransformerLm& model) {
  return {model->layers.front()->ln1->weight,
          model->layers.front()->attn->q_proj->weight, model->ln_final->weight};
}

}  // namespace

double LogitsError(TransformerLm& model, Precision precision) {
  return LogitsErrorOn(model, ShortBatch(model), precision);
}

absl::Status VerifyFirstUpdate(const std::vector<at::Tensor>& parameters,
                               AdamW& optimizer) {
  const at::NoGradGuard no_grad;
  const AdamWOptions& options = optimizer.options();
  std::vector<at::Tensor> expected;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor w = parameter.detach().to(at::kDouble);
    const at::Tensor g = parameter.grad().to(at::kDouble);
    // Moments start at 0, so bias correction makes them g and g^2.
    expected.push_back(w - options.lr * (g / (g.abs() + options.eps) +
                                         options.weight_decay * w));
  }
  optimizer.Step();
  double worst = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& weight = parameters[i];
    // Decay and step round once each: twice the unit roundoff. The second
    // moment of a tiny gradient also loses digits relative to eps: a thousandth
    // of the step.
    const double ulp = weight.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-23;
    const at::Tensor allowed =
        expected[i].abs() * ulp + options.lr * std::max(1e-3, 4 * ulp);
    const at::Tensor error =
        (weight.detach().to(at::kDouble) - expected[i]).abs() / allowed;
    worst = std::max(worst, error.max().item<double>());
  }
  return Compare("AdamW updates, in units of rounding,", worst, 1.0);
}

absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision) {
  const Batch batch = ShortBatch(model);
  absl::Status status =
      Compare("logits", LogitsErrorOn(model, batch, precision),
              ToleranceOf(precision).logits);
  if (!status.ok() || mode == StepMode::kInference ||
      mode == StepMode::kForward) {
    return status;
  }
  NullObserver nobody;
  ComputeGradients(model, batch, precision, nobody);
  status = VerifyGradients(model, batch, precision);
  if (status.ok() && mode == StepMode::kTrainStep) {
    TORCH_CHECK(optimizer != nullptr, "a train step needs an optimizer");
    status = VerifyFirstUpdate(SomeParameters(model), *optimizer);
  }
  ReleaseGradients(model);
  return status;
}

}  // namespace trainbench
