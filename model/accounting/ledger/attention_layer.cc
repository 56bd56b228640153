// SPDX-License-Identifier: MIT

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {
namespace {

using enum Component;
using enum TensorType;

TensorSize Half(const Step& s) {
  return {"B T d / 2", s.projection.elements / 2};
}

bool IsWidened(const Step& s) { return s.operand == kBfloat16; }

// One of the four products of a rotation: of the even or the odd channels. A
// CPU widens operands of two types before it multiplies them.
Tensor Turn(Step& s) {
  const Tensor wide = IsWidened(s) && s.sizes.on_cpu
                          ? s.Floats("fp32 channels", Half(s))
                          : Tensor();
  return s.Floats("channels x angle", Half(s));
}

// model/nn/rope.cc.
Tensor Rotate(Step& s, const TensorName& name) {
  s.component = kRope;
  Tensor turned;
  {
    const Tensor even_cos = Turn(s), odd_sin = Turn(s);
    const Tensor even = s.Floats("rotated even channels", Half(s));
    const Tensor even_sin = Turn(s), odd_cos = Turn(s);
    const Tensor odd = s.Floats("rotated odd channels", Half(s));
    turned = s.Floats(IsWidened(s) ? "rotated channels" : name, s.projection);
  }
  return IsWidened(s) ? s.Operands(name, s.projection) : turned;
}

Tensor TurnBack(Step& s) {
  const Tensor gradient = s.Floats("gradient of channels", Half(s));
  return IsWidened(s) ? s.Operands("gradient of channels", Half(s)) : gradient;
}

// Merges the heads of a gradient that lies [batch, heads, seq, d_head].
Tensor Merged(Step& s, Tensor gradient) {
  s.component = kProjections;
  if (s.sizes.heads > 1) {
    gradient = s.Operands("merged gradient", s.projection);
  }
  return gradient;
}

Tensor RotateBackward(Step& s, Tensor gradient) {
  s.Enter("rotation backward");
  s.component = kRope;
  if (IsWidened(s)) gradient = s.Floats("fp32 gradient", s.projection);
  Tensor odd = TurnBack(s), even = TurnBack(s);
  {
    const Tensor negated = s.Floats("-gradient", Half(s));
    Tensor second = TurnBack(s);
    Free(gradient, second);
    second = TurnBack(s);
    // The second terms are added to the first, in place.
  }
  gradient = s.Operands("gradient of all channels", s.projection);
  even.Reset();
  {
    const Tensor second = s.Operands("gradient of all channels", s.projection);
    odd.Reset();
  }
  return Merged(s, std::move(gradient));
}

}  // namespace

AttentionLayer::AttentionLayer(const Step& s)
    : q_("W_q", s.square),
      k_("W_k", s.square),
      v_("W_v", s.square),
      output_("W_o", s.square),
      joined_("W_q, W_k and W_v", s.three_squares) {}

Heads AttentionLayer::ProjectAndRotate(Step& s, const Tensor& x) {
  s.component = kProjections;
  if (s.is(Implementation::kFused)) {
    // Rotated in place.
    const Tensor all =
        joined_.Forward(s, x, "rotated q and k, and v", s.three_projections);
    return {all, all, all, /*merged=*/true};
  }
  const auto project = [&](Linear& linear, const char* name) {
    s.component = kProjections;
    return linear.Forward(s, x, /*wide=*/true, name, s.projection);
  };
  const auto rotated = [&](Linear& linear, const char* name) {
    const Tensor projected = project(linear, "projection");
    return Rotate(s, name);
  };
  Tensor q = rotated(q_, "rotated q");
  Tensor k = rotated(k_, "rotated k");
  return {std::move(q), std::move(k), project(v_, "v")};
}

AttentionResult AttentionLayer::Mix(Step& s, const Heads& in) const {
  const bool fused_naive = s.is(Implementation::kFused) &&
                           s.query.config.attention == AttentionKind::kNaive;
  return fused_naive ? FusedNaiveMemory(s, in)
                     : Attend(s.query.config.attention, s, in);
}

Tensor AttentionLayer::Forward(Step& s, const Tensor& x) {
  s.Enter("attention");
  const Heads in = ProjectAndRotate(s, x);
  const bool graph = s.sizes.graph;
  if (graph &&
      s.query.config.checkpointing.kind == Checkpointing::Kind::kAttention) {
    kept_ = in;
    s.sizes.graph = false;
  }
  attended_ = Mix(s, in);
  s.sizes.graph = graph;
  Tensor mixed = std::move(attended_.output);
  s.component = kOutputProjection;
  if (!attended_.merged && s.sizes.heads > 1) {
    mixed = s.Operands("merged heads", s.projection);
  }
  return output_.Forward(s, mixed, /*wide=*/false, "update", s.x);
}

// model/nn/checkpoint.cc: a checkpoint is done again.
Heads AttentionLayer::MixBackward(Step& s, Tensor gradient) {
  if (!kept_.q) return attended_.backward(std::move(gradient));
  const Tensor of_output = gradient;  // which the node holds
  s.Enter("recomputed attention");
  AttentionResult again = Mix(s, kept_);
  again.output.Reset();
  Heads to = again.backward(std::move(gradient));
  kept_ = {};
  return to;
}

Tensor AttentionLayer::Backward(Step& s, Tensor gradient) {
  s.Enter("W_o backward");
  s.component = kOutputProjection;
  GradientSum of_output;
  output_.Backward(s, std::move(gradient), s.projection, of_output);
  Heads to = MixBackward(s, std::move(of_output.sum));
  if (s.is(Implementation::kFused)) return FusedBackward(s, std::move(to));
  GradientSum sum;
  const auto project = [&](Linear& linear, Tensor of_result) {
    s.Enter("projections backward");
    s.component = kProjections;
    linear.Backward(s, std::move(of_result), s.x, sum);
  };
  project(v_, attended_.merged_v_gradient ? std::move(to.v)
                                          : Merged(s, std::move(to.v)));
  project(k_, RotateBackward(s, std::move(to.k)));
  project(q_, RotateBackward(s, std::move(to.q)));
  return std::move(sum.sum);
}

Tensor AttentionLayer::FusedBackward(Step& s, Heads gradients) {
  s.Enter("rotation backward");
  s.component = kRope;
  Tensor rows;
  if (attended_.transposed_k_gradient) {
    rows = s.Operands("gradient of k in rows", s.projection);
  }
  Tensor all = s.Operands("gradient of q, k and v", s.three_projections);
  rows.Reset();
  gradients = {};
  s.Enter("projections backward");
  s.component = kProjections;
  return joined_.Backward(s, std::move(all));
}

}  // namespace trainbench::ledger
