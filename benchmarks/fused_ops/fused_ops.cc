// SPDX-License-Identifier: MIT

#include "benchmarks/fused_ops/fused_ops.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/fused/rms_norm.h"
#include "model/fused/rope.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/nn/attention/naive.h"
#include "model/nn/cross_entropy.h"
#include "model/nn/norm.h"
#include "model/spec/check_log.h"
#include "model/spec/status_macros.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr double kScale = 0.125;  // of scores: 1 / sqrt(64)

Tensors AddAndNorm(Implementation implementation, const Tensors& in) {
  const at::Tensor &residual = in[0], &update = in[1], &weight = in[2];
  if (implementation == Implementation::kFused) {
    auto [sum, normed] = AddRmsNorm(residual, update, weight, kNormEps);
    return {sum, normed};
  }
  at::Tensor sum = residual + update;
  return {sum, ComputeRmsNorm(sum, weight, implementation)};
}

at::Tensor GateAndValue(Implementation implementation, const Tensors& in) {
  switch (implementation) {
    case Implementation::kTextbook: {
      at::Tensor hidden = in[0];
      hidden = hidden * hidden.sigmoid();
      return hidden * in[1];
    }
    case Implementation::kLibrary:
      return at::silu(in[0]) * in[1];
    case Implementation::kFused:
      return Swiglu(in[0]);
  }
  return {};
}

at::Tensor MaskedSoftmax(Implementation implementation, at::Tensor scores) {
  if (implementation == Implementation::kFused) {
    return CausalSoftmax(std::move(scores), kScale);
  }
  const at::ScalarType dtype = scores.scalar_type();
  const at::Tensor hidden =
      at::ones({scores.size(-1), scores.size(-1)},
               scores.options().dtype(at::kBool).requires_grad(false))
          .triu(/*diagonal=*/1);
  scores = (scores * kScale)
               .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return implementation == Implementation::kTextbook
             ? NaiveSoftmax(std::move(scores)).to(dtype)
             : scores.softmax(-1);
}

// Returns the inputs' shapes. The fused implementation takes some tensors
// joined in one, which the others take separately.
std::vector<std::vector<int64_t>> ShapesOf(FusedOp op,
                                           Implementation implementation,
                                           const ModelConfig& m, int64_t batch,
                                           int64_t seq) {
  const bool joined = implementation == Implementation::kFused;
  const std::vector<int64_t> x = {batch, seq, m.d_model};
  const std::vector<int64_t> hidden = {batch, seq, m.d_ff};
  switch (op) {
    case FusedOp::kAddRmsNorm:
      return {x, x, {m.d_model}};
    case FusedOp::kRope:
      if (joined) return {{batch, seq, 3 * m.d_model}};
      return {x, x, x};
    case FusedOp::kSwiglu:
      if (joined) return {{batch, seq, 2 * m.d_ff}};
      return {hidden, hidden};
    case FusedOp::kCausalSoftmax:
      return {{batch, m.heads, seq, seq}};
    case FusedOp::kCrossEntropy:
      return {{batch, seq, m.vocab}};
  }
  return {};
}

absl::Status Compare(const char* what, const Tensors& actual,
                     const Tensors& expected) {
  absl::Status status;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double allowed = actual[i].scalar_type() == at::kFloat ? 1e-5 : 1e-2;
    status.Update(CheckError(what, RelativeError(actual[i], expected[i]),
                             allowed, absl::StrCat("in tensor ", i)));
  }
  return status;
}

}  // namespace

double FusedOpBytes(FusedOp op, std::optional<Phase> phase,
                    const ModelConfig& model, int64_t batch, int64_t seq,
                    int width) {
  const auto number = [](int64_t x) { return static_cast<double>(x); };
  const double forward = phase == Phase::kBackward ? 0 : 1;
  const double backward = phase == Phase::kForward ? 0 : 1;
  const double tokens = number(batch * seq), bytes = width;
  switch (op) {
    case FusedOp::kAddRmsNorm:
    case FusedOp::kRope:
      return (4 * forward + 4 * backward) * bytes * tokens *
             number(model.d_model);
    case FusedOp::kSwiglu:
      return (3 * forward + 5 * backward) * bytes * tokens * number(model.d_ff);
    case FusedOp::kCausalSoftmax:
      return (1.5 * forward + 2 * backward) * bytes * tokens * number(seq) *
             number(model.heads);
    case FusedOp::kCrossEntropy:
      return 2 * bytes * tokens * number(model.vocab);
  }
  return 0;
}

std::string FusedOpUnavailable(FusedOp op, Implementation implementation,
                               DeviceKind device, ModelConfig model) {
  if (op == FusedOp::kAddRmsNorm) {
    model.norm = Normalization::kRms;
    model.implementation = implementation;
    return ImplementationUnavailable(model, device);
  }
  if (op != FusedOp::kRope) return "";
  if (model.positions != Positions::kRope) {
    return "this model has no rotary embedding";
  }
  return implementation == Implementation::kLibrary
             ? "LibTorch has no rotary embedding; see textbook and fused"
             : "";
}

FusedOpCall::FusedOpCall(FusedOp op, Implementation implementation,
                         const ModelConfig& model, int64_t batch, int64_t seq,
                         const at::TensorOptions& options)
    : op_(op),
      implementation_(implementation),
      heads_(model.heads),
      rope_(model.d_head()),
      targets_(
          at::randint(model.vocab, {batch, seq}, options.dtype(at::kLong))) {
  for (const auto& shape : ShapesOf(op, implementation, model, batch, seq)) {
    values_.push_back(at::randn(shape, options));
    inputs_.push_back(values_.back().clone().requires_grad_());
  }
  for (const at::Tensor& result : Forward()) {
    gradients_.push_back(result.dim() == 0 ? at::ones_like(result)
                                           : at::randn_like(result));
  }
  Restore();
}

void FusedOpCall::Restore() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    inputs_[i].copy_(values_[i]);
  }
}

std::vector<at::Tensor> FusedOpCall::Compute(Implementation implementation,
                                             const Tensors& in) {
  const auto heads = [this](const at::Tensor& x) {
    return x.unflatten(-1, {heads_, x.size(-1) / heads_}).transpose(1, 2);
  };
  switch (op_) {
    case FusedOp::kAddRmsNorm:
      return AddAndNorm(implementation, in);
    case FusedOp::kRope: {
      if (implementation != Implementation::kFused) {
        return {rope_.Rotate(heads(in[0])), rope_.Rotate(heads(in[1])),
                heads(in[2])};
      }
      const auto [cos, sin] = rope_.Tables(
          in[0].size(1), at::device(in[0].device()).dtype(at::kFloat));
      Heads result = SplitAndRotate(in[0], heads_, heads_, cos, sin);
      return {result.q, result.k, result.v};
    }
    case FusedOp::kSwiglu:
      return {GateAndValue(implementation, in)};
    case FusedOp::kCausalSoftmax:
      return {MaskedSoftmax(implementation, in[0])};
    case FusedOp::kCrossEntropy:
      return {CrossEntropy(in[0], targets_, implementation)};
  }
  return {};
}

std::vector<at::Tensor> FusedOpCall::Forward() {
  return Compute(implementation_, inputs_);
}

std::vector<at::Tensor> FusedOpCall::Backward(const Tensors& results) {
  return torch::autograd::grad(results, inputs_, gradients_);
}

absl::Status FusedOpCall::Verify() {
  Restore();
  Tensors wide, gradients;
  for (const at::Tensor& value : values_) {
    const at::Tensor x = value.to(at::kDouble);
    // The number of tensors that the fused implementation takes joined in one.
    const int64_t parts = implementation_ != Implementation::kFused ? 1
                          : op_ == FusedOp::kRope                   ? 3
                          : op_ == FusedOp::kSwiglu                 ? 2
                                                                    : 1;
    for (const at::Tensor& part : x.chunk(parts, -1)) {
      wide.push_back(part.contiguous().requires_grad_());
    }
  }
  for (const at::Tensor& gradient : gradients_) {
    gradients.push_back(gradient.to(at::kDouble));
  }
  const Tensors expected = Compute(Implementation::kTextbook, wide);
  const Tensors results = Forward();
  RETURN_IF_ERROR(Compare("output", results, expected));
  Tensors expected_gradients = torch::autograd::grad(expected, wide, gradients);
  if (wide.size() > inputs_.size()) {
    expected_gradients = {at::cat(expected_gradients, -1)};
  }
  return Compare("gradient", Backward(results), expected_gradients);
}

}  // namespace trainbench
