// SPDX-License-Identifier: MIT

#include "model/verification.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace trainbench {
namespace {

constexpr int64_t kTokens = 16;

// Allowed relative errors: of the logits' norm and of the gradient's norm. A
// few hundred roundings of 2^-24 (fp32), 2^-11 (tf32) or 2^-9 (bf16) each,
// which mostly cancel.
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

// The model's formulas once more, in float64.
class Reference {
 public:
  Reference(const TransformerLm& model, double along_gradient)
      : model_(model), along_gradient_(along_gradient) {}

  at::Tensor Logits(const at::Tensor& tokens) const {
    at::Tensor x = Rows(model_->token_embeddings->weight, tokens);
    for (const Block& layer : model_->layers) {
      x = x + Attention(*layer->attn, Norm(*layer->ln1, x));
      x = x + FeedForward(*layer->ffn, Norm(*layer->ln2, x));
    }
    return Multiply(model_->lm_head, Norm(*model_->ln_final, x));
  }

 private:
  at::Tensor Weight(const at::Tensor& weight) const {
    // A copy even of float64 weights: they must not move.
    at::Tensor wide = weight.detach().to(at::kDouble, /*non_blocking=*/false,
                                         /*copy=*/true);
    if (along_gradient_ == 0) return wide;
    return wide.add_(weight.grad().to(at::kDouble), along_gradient_);
  }

  at::Tensor Rows(const at::Tensor& table, const at::Tensor& tokens) const {
    at::Tensor rows = at::embedding(table.detach(), tokens).to(at::kDouble);
    if (along_gradient_ == 0) return rows;
    return rows + at::embedding(table.grad(), tokens).to(at::kDouble) *
                      along_gradient_;
  }

  at::Tensor Multiply(const Linear& linear, const at::Tensor& x) const {
    return at::einsum("bti,oi->bto", {x, Weight(linear->weight)});
  }

  at::Tensor Norm(const RmsNormImpl& norm, const at::Tensor& x) const {
    const auto dim = static_cast<double>(x.size(-1));
    const at::Tensor squares =
        at::linalg_vector_norm(x, 2, {-1}, true).square();
    return x / (squares / dim + RmsNormImpl::kEps).sqrt() * Weight(norm.weight);
  }

  // Channel pairs as complex numbers times e^(i t theta^(-2k / d)).
  static at::Tensor Rotate(const at::Tensor& x) {
    const int64_t seq = x.size(-2), dim = x.size(-1);
    const at::TensorOptions options = x.options();
    const at::Tensor frequency =
        (at::arange(0, dim, 2, options) * (-std::log(Rope::kTheta) / dim))
            .exp();
    const at::Tensor angle =
        at::arange(seq, options).unsqueeze(1) * frequency.unsqueeze(0);
    const at::Tensor turn = at::polar(at::ones_like(angle), angle);
    const at::Tensor pairs =
        at::view_as_complex(x.contiguous().unflatten(-1, {dim / 2, 2}));
    return at::view_as_real(pairs * turn).flatten(-2);
  }

  at::Tensor Heads(const Linear& linear, const at::Tensor& x) const {
    return Multiply(linear, x)
        .unflatten(-1, {model_->config().heads, model_->config().d_head()})
        .transpose(1, 2);
  }

  at::Tensor Attention(const AttentionImpl& attention,
                       const at::Tensor& x) const {
    const at::Tensor q = Rotate(Heads(attention.q_proj, x));
    const at::Tensor k = Rotate(Heads(attention.k_proj, x));
    const at::Tensor v = Heads(attention.v_proj, x);
    const at::Tensor hidden =
        at::ones({x.size(1), x.size(1)}, x.options().dtype(at::kBool)).triu(1);
    const at::Tensor scores = at::einsum("bhqd,bhkd->bhqk", {q, k}) *
                              (1 / std::sqrt(static_cast<double>(q.size(-1))));
    const at::Tensor weights =
        scores.masked_fill(hidden, -std::numeric_limits<double>::infinity())
            .softmax(-1);
    return Multiply(attention.output_proj,
                    at::einsum("bhqk,bhkd->bqhd", {weights, v}).flatten(-2));
  }

  at::Tensor FeedForward(const FeedForwardImpl& ffn,
                         const at::Tensor& x) const {
    return Multiply(ffn.w2,
                    at::silu(Multiply(ffn.w1, x)) * Multiply(ffn.w3, x));
  }

  const TransformerLm& model_;
  double along_gradient_;
};

double ReferenceLoss(const TransformerLm& model, const Batch& batch,
                     double along_gradient) {
  const at::Tensor logits =
      ReferenceLogits(model, batch.tokens, along_gradient);
  return at::cross_entropy_loss(logits.flatten(0, 1), batch.targets.flatten())
      .item<double>();
}

absl::Status VerifyLogits(TransformerLm& model, const Batch& batch,
                          Precision precision) {
  NullObserver nobody;
  const at::Tensor actual =
      RunStep(StepMode::kInference, model, nullptr, batch, precision, nobody)
          .to(at::kDouble);
  const at::Tensor expected = ReferenceLogits(model, batch.tokens);
  const double error =
      ((actual - expected).norm() / expected.norm()).item<double>();
  return Compare("logits", error, ToleranceOf(precision).logits);
}

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return a.flatten()
      .to(at::kDouble)
      .dot(b.flatten().to(at::kDouble))
      .item<double>();
}

// The gradients must be in the parameters. Turns each g into the direction
// d = g + |g| n, with |g| the norm over all parameters and n normally
// distributed.
//
// The slope along d should be g.d. Along g alone it would be |g|^2 even if a
// part of g were missing; n makes the difference, divided by |g|^2, as large as
// the relative error of g, whatever its direction.
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
  // A displacement of 1e-3 in all: small enough to be straight, large enough
  // for the difference of two losses to keep its digits.
  const double eps = 1e-3 / std::sqrt(squared_length);
  const double slope =
      (ReferenceLoss(model, batch, eps) - ReferenceLoss(model, batch, -eps)) /
      (2 * eps);
  return Compare("gradients", std::abs(slope - expected) / squared_norm,
                 ToleranceOf(precision).gradient);
}

// A norm and a matrix of the first block, and the last norm: one of each kind
// of tensor, without the cost of copying all.
std::vector<at::Tensor> SomeParameters(const TransformerLm& model) {
  return {model->layers.front()->ln1->weight,
          model->layers.front()->attn->q_proj->weight, model->ln_final->weight};
}

absl::Status VerifyFirstUpdate(const TransformerLm& model, AdamW& optimizer) {
  const AdamWOptions& options = optimizer.options();
  std::vector<at::Tensor> expected;
  for (const at::Tensor& parameter : SomeParameters(model)) {
    const at::Tensor w = parameter.detach().to(at::kDouble);
    const at::Tensor g = parameter.grad().to(at::kDouble);
    // With both moments at 0, bias correction makes them g and g^2.
    expected.push_back(w - options.lr * (g / (g.abs() + options.eps) +
                                         options.weight_decay * w));
  }
  optimizer.Step();
  const std::vector<at::Tensor> actual = SomeParameters(model);
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const at::Tensor& weight = actual[i];
    // Decay and step are rounded each, hence twice the unit roundoff. Beside
    // that the second moment of a tiny gradient loses digits relative to eps:
    // allow it a thousandth of the step.
    const double ulp = weight.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-23;
    const at::Tensor allowed =
        expected[i].abs() * ulp + options.lr * std::max(1e-3, 4 * ulp);
    const at::Tensor error =
        (weight.detach().to(at::kDouble) - expected[i]).abs() / allowed;
    worst = std::max(worst, error.max().item<double>());
  }
  return Compare("AdamW updates, in units of rounding,", worst, 1.0);
}

}  // namespace

at::Tensor ReferenceLogits(const TransformerLm& model, const at::Tensor& tokens,
                           double along_gradient) {
  const at::NoGradGuard no_grad;
  return Reference(model, along_gradient).Logits(tokens);
}

absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision) {
  const Batch batch = RandomBatch(model->config().vocab, 1, kTokens,
                                  model->lm_head->weight.device());
  absl::Status status = VerifyLogits(model, batch, precision);
  if (!status.ok() || mode == StepMode::kInference ||
      mode == StepMode::kForward) {
    return status;
  }
  NullObserver nobody;
  ComputeGradients(model, batch, precision, nobody);
  status = VerifyGradients(model, batch, precision);
  if (status.ok() && mode == StepMode::kTrainStep) {
    TORCH_CHECK(optimizer != nullptr, "a train step needs an optimizer");
    const at::NoGradGuard no_grad;
    status = VerifyFirstUpdate(model, *optimizer);
  }
  ReleaseGradients(model);
  return status;
}

}  // namespace trainbench
