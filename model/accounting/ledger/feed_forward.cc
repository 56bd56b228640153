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
    silu = s.Make("silu(gate)", s.hidden, s.operand);
  } else {
    gate = up(w1_, "gate");
    sigmoid = s.Make("sigmoid(gate)", s.hidden, s.operand);
    silu = s.Make("silu(gate)", s.hidden, s.operand);
    gate_ = s.Save(gate);
    sigmoid_ = s.Save(sigmoid);
    gate.Reset();
    sigmoid.Reset();
    value = up(w3_, "value");
  }
  if (gate) gate_ = s.Save(gate);
  silu_ = s.Save(silu);
  value_ = s.Save(value);
  product = s.Make("silu(gate) * value", s.hidden, s.operand);
  return w2_.Forward(s, product, /*wide=*/false, "update", s.x);
}

Tensor FeedForward::Backward(Step& s, Tensor gradient) {
  s.component = Component::kFfn;
  s.Enter("W2 backward");
  GradientSum of_product;
  w2_.Backward(s, std::move(gradient), s.hidden, of_product);
  gradient = std::move(of_product.sum);
  const auto make = [&](const char* name) {
    return s.Make(name, s.hidden, s.operand);
  };
  s.Enter("SwiGLU backward");
  if (s.is(Implementation::kFused)) {
    gradient = s.Make("gradient of gate and value", s.two_hidden, s.operand);
    gate_.Reset();
    s.Enter("W1 and W3 backward");
    return joined_.Backward(s, std::move(gradient));
  }
  Tensor of_value = make("gradient of value");
  Tensor of_silu = make("gradient of silu(gate)");
  gradient.Reset();
  value_.Reset();
  silu_.Reset();
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
  of_silu.Reset();
  gate_.Reset();
  Tensor through_sigmoid = make("gradient through the sigmoid");
  of_sigmoid.Reset();
  sigmoid_.Reset();
  through_sigmoid.Reset();
  s.Enter("W1 backward");
  w1_.Backward(s, std::move(of_gate), s.x, sum);
  return std::move(sum.sum);
}

}  // namespace trainbench::ledger
