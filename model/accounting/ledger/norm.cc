// SPDX-License-Identifier: MIT

#include <algorithm>
#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

using enum TensorType;

namespace {

Tensor WideWeight(Step& s) {
  return s.narrow ? s.MakeFloats("fp32 weight", s.weight) : Tensor();
}

}  // namespace

Tensor Norm::Forward(Step& s, Stream& stream) {
  s.Enter("norm");
  s.component = Component::kNorm;
  if (s.is(Implementation::kFused)) return FusedForward(s, stream);
  Tensor wide =
      s.narrow ? s.MakeFloats({"fp32 copy of the input of ", consumer_}, s.x)
               : stream.x;
  Tensor inverse_rms;
  {
    const Tensor square = s.MakeFloats("x^2", s.x);
    const Tensor mean = s.MakeFloats("mean of x^2", s.tokens);
    Tensor sum;  // at::rms_norm adds eps in place
    if (s.is(Implementation::kTextbook)) {
      sum = s.MakeFloats("mean of x^2 + eps", s.tokens);
    }
    inverse_rms =
        s.MakeFloats({"1 / rms of the input of ", consumer_}, s.tokens);
  }
  Tensor normalised =
      s.MakeFloats({"normalised form of the input of ", consumer_}, s.x);
  x_ = s.Save(wide);
  inverse_rms_ = s.Save(inverse_rms);
  normalised_ = s.Save(normalised);
  Tensor weight = WideWeight(s);
  Tensor output = s.MakeFloats({"input of ", consumer_}, s.x);
  weight.Reset();
  if (s.is(Implementation::kLibrary)) {
    wide.Reset();
    normalised.Reset();
  }
  if (s.narrow) output = s.Make({"input of ", consumer_}, s.x, s.operand);
  return output;
}

Tensor Norm::WeightBackward(Step& s, Tensor gradient) {
  if (s.narrow) gradient = s.MakeFloats("fp32 gradient of the output", s.x);
  Tensor of_normalised, product;
  const auto multiply = [&] {
    product = s.MakeFloats("gradient x normalised form", s.x);
  };
  if (s.is(Implementation::kLibrary)) multiply();
  {
    const Tensor weight = WideWeight(s);
    of_normalised = s.MakeFloats("gradient of the normalised form", s.x);
  }
  if (s.is(Implementation::kTextbook)) multiply();
  Tensor of_weight = s.MakeFloats("gradient of the norm's weight", s.weight);
  product.Reset();
  if (s.narrow) {
    of_weight = s.Make("gradient of the norm's weight", s.weight, s.parameter);
  }
  s.Keep(std::move(of_weight));
  gradient.Reset();
  normalised_.Reset();
  return of_normalised;
}

void Norm::Backward(Step& s, Tensor gradient, Stream& to) {
  s.Enter("norm backward");
  s.component = Component::kNorm;
  if (s.is(Implementation::kFused)) {
    FusedBackward(s, std::move(gradient), to);
    return;
  }
  gradient = WeightBackward(s, std::move(gradient));
  Tensor product = s.MakeFloats("gradient x x", s.x);
  Tensor direct = s.MakeFloats("gradient / rms", s.x);
  Tensor of_inverse = s.MakeFloats("gradient of 1 / rms", s.tokens);
  product.Reset();
  gradient.Reset();
  // The stream's gradient, or that of its fp32 copy.
  Tensor copy;
  Tensor& sum = s.narrow ? copy : to.x;
  if (sum) {
    direct.Reset();
  } else {
    sum = std::move(direct);
  }
  Tensor of_mean;
  {
    const Tensor cube = s.MakeFloats("1 / rms^3", s.tokens);
    const Tensor half = s.MakeFloats("-gradient / 2", s.tokens);
    of_mean = s.MakeFloats("gradient of the mean of x^2", s.tokens);
  }
  of_inverse.Reset();
  inverse_rms_.Reset();
  {
    const Tensor of_square = s.MakeFloats("gradient of x^2", s.x);
    of_mean.Reset();
    const Tensor power = s.MakeFloats("x", s.x);
    const Tensor twice = s.MakeFloats("2 x", s.x);
    direct = s.MakeFloats("gradient through the rms", s.x);
  }
  x_.Reset();
  direct.Reset();
  if (!s.narrow) return;
  Tensor narrow = s.Make("gradient of the residual stream", s.x, s.stream);
  copy.Reset();
  if (!to.x) to.x = std::move(narrow);
}

Tensor Norm::FusedForward(Step& s, Stream& stream) {
  added_ = static_cast<bool>(stream.update);
  Tensor x = stream.x;
  if (added_) {
    const int64_t layer = s.ledger.layer();
    s.ledger.EnterLayer(stream.layer);
    x = s.Make(stream.name, s.x, s.stream);
    s.ledger.EnterLayer(layer);
  }
  Tensor normed = s.Make({"input of ", consumer_}, s.x, s.operand);
  const Tensor inverse_rms =
      s.MakeFloats({"1 / rms of the input of ", consumer_}, s.tokens);
  stream.x = x;
  stream.update.Reset();
  x_ = s.Save(x);
  inverse_rms_ = s.Save(inverse_rms);
  return normed;
}

void Norm::FusedBackward(Step& s, Tensor gradient, Stream& to) {
  const int64_t rows = s.tokens.elements;
  const int64_t per_part = std::max<int64_t>(8, (rows + 63) / 64);
  const int64_t parts = (rows + per_part - 1) / per_part;
  Tensor partial = s.MakeFloats("parts of the weight's gradient",
                                {"", parts * s.weight.elements});
  Stream result;
  result.x = s.Make("gradient of the residual stream", s.x, s.stream);
  if (added_) {
    result.update = s.autocast
                        ? s.Make("gradient of the update", s.x, s.operand)
                        : result.x;
  }
  Tensor of_weight = s.MakeFloats("gradient of the norm's weight", s.weight);
  if (s.narrow) {
    of_weight = s.Make("gradient of the norm's weight", s.weight, s.parameter);
  }
  s.Keep(std::move(of_weight));
  partial.Reset();
  to = std::move(result);
  gradient.Reset();
  x_.Reset();
  inverse_rms_.Reset();
}

}  // namespace trainbench::ledger
