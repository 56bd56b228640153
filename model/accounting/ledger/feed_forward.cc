// SPDX-License-Identifier: MIT

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

FeedForward::FeedForward(const Step& s)
    : w1_("W1", s.d_ff),
      w3_("W3", s.d_ff),
      w2_("W2", s.d_ff),
      joined_("W1 and W3", s.two_d_ff) {}

Tensor FeedForward::Forward(Step& s, const Tensor& x) {
  s.Enter("feed forward");
  s.component = Component::kFfn;
  Tensor gate, sigmoid, silu, value, product;
  const auto up = [&](Linear& linear, const char* name) {
    return linear.Forward(s, x, /*wide=*/true, name, s.hidden);
  };
  if (s.is(Implementation::kFused)) {
    gate = joined_.Forward(s, x, "gate and value", s.two_hidden);
  } else if (s.is(Implementation::kLibrary)) {
    value = up(w3_, "value");
    gate = up(w1_, "gate");
    silu = s.Operands("silu(gate)", s.hidden);
  } else {
    gate = up(w1_, "gate");
    sigmoid = s.Operands("sigmoid(gate)", s.hidden);
    silu = s.Operands("silu(gate)", s.hidden);
    gate_ = s.Save(gate);
    sigmoid_ = s.Save(sigmoid);
    Free(gate, sigmoid);
    value = up(w3_, "value");
  }
  if (gate) gate_ = s.Save(gate);
  silu_ = s.Save(silu);
  value_ = s.Save(value);
  product = s.Operands("silu(gate) * value", s.hidden);
  return w2_.Forward(s, product, /*wide=*/false, "update", s.x);
}

Tensor FeedForward::Backward(Step& s, Tensor gradient) {
  s.component = Component::kFfn;
  s.Enter("W2 backward");
  GradientSum of_product;
  w2_.Backward(s, std::move(gradient), s.hidden, of_product);
  gradient = std::move(of_product.sum);
  const auto make = [&](const char* name) {
    return s.Operands(name, s.hidden);
  };
  s.Enter("SwiGLU backward");
  if (s.is(Implementation::kFused)) {
    gradient = s.Operands("gradient of gate and value", s.two_hidden);
    gate_.Reset();
    s.Enter("W1 and W3 backward");
    return joined_.Backward(s, std::move(gradient));
  }
  Tensor of_value = make("gradient of value");
  Tensor of_silu = make("gradient of silu(gate)");
  Free(gradient, value_, silu_);
  GradientSum sum;
  if (s.is(Implementation::kLibrary)) {
    of_silu = make("gradient of gate");
    gate_.Reset();
    s.Enter("W1 backward");
    w1_.Backward(s, std::move(of_silu), s.x, sum);
    s.Enter("W3 backward");
    w3_.Backward(s, std::move(of_value), s.x, sum);
    return std::move(sum.sum);
  }
  s.Enter("W3 backward");
  w3_.Backward(s, std::move(of_value), s.x, sum);
  s.Enter("gate backward");
  Tensor of_sigmoid = make("gradient of sigmoid(gate)");
  Tensor of_gate = make("gradient of gate");
  Free(of_silu, gate_);
  Tensor through_sigmoid = make("gradient through the sigmoid");
  Free(of_sigmoid, sigmoid_, through_sigmoid);
  s.Enter("W1 backward");
  w1_.Backward(s, std::move(of_gate), s.x, sum);
  return std::move(sum.sum);
}

}  // namespace trainbench::ledger
