// SPDX-License-Identifier: MIT

#include <algorithm>
#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {
namespace {

bool IsOneKernel(const Step& s) {
  return s.is(Implementation::kFused) ||
         (s.is(Implementation::kLibrary) && !s.sizes.on_cpu);
}

// A CPU widens operands of two types before it multiplies them.
Tensor WideWeight(Step& s) {
  return s.narrow && s.sizes.on_cpu ? s.Floats("fp32 weight", s.weight)
                                    : Tensor();
}

// Rows of the fp32 buffer in which the fused kernels sum the gradient of the
// weight; LibTorch's has none.
int64_t PartialRows(const Step& s) {
  const int64_t rows = s.tokens.elements;
  if (!s.is(Implementation::kFused)) return 0;
  if (!s.sizes.on_cpu) return std::min<int64_t>(rows, 528);
  const int64_t rows_per_part = std::max<int64_t>(8, (rows + 63) / 64);
  return (rows + rows_per_part - 1) / rows_per_part;
}

// Adds a term to the gradient of the stream: in place, unless a checkpoint's
// node holds that, too.
void AddToStream(Step& s, Stream& to, Tensor term) {
  if (to.x.is_shared()) {
    to.x = s.Make("gradient of the residual stream", s.x, s.stream);
  } else {
    AddInPlace(to.x, std::move(term));
  }
}

}  // namespace

Tensor Norm::Forward(Step& s, Stream& stream) {
  s.Enter("norm");
  s.component = Component::kNorm;
  if (IsOneKernel(s)) return KernelForward(s, stream);
  Tensor wide = s.narrow
                    ? s.Floats({"fp32 copy of the input of ", consumer_}, s.x)
                    : stream.x;
  Tensor inverse_rms;
  {
    const Tensor square = s.Floats("x^2", s.x),
                 mean = s.Floats("mean of x^2", s.tokens);
    Tensor sum;  // at::rms_norm adds eps in place
    if (s.is(Implementation::kTextbook)) {
      sum = s.Floats("mean of x^2 + eps", s.tokens);
    }
    inverse_rms = s.Floats({"1 / rms of the input of ", consumer_}, s.tokens);
  }
  Tensor normalised =
      s.Floats({"normalised form of the input of ", consumer_}, s.x);
  x_ = s.Save(wide);
  inverse_rms_ = s.Save(inverse_rms);
  normalised_ = s.Save(normalised);
  Tensor weight = WideWeight(s);
  Tensor output = s.Floats({"input of ", consumer_}, s.x);
  weight.Reset();
  if (s.is(Implementation::kLibrary)) Free(wide, normalised);
  if (s.narrow) output = s.Operands({"input of ", consumer_}, s.x);
  return output;
}

// Of w * (x / rms), from its gradient that of x / rms.
Tensor Norm::WeightBackward(Step& s, Tensor gradient) {
  if (s.narrow) gradient = s.Floats("fp32 gradient of the output", s.x);
  Tensor of_normalised, product;
  const auto multiply = [&] { product = s.Floats("gradient x form", s.x); };
  if (s.is(Implementation::kLibrary)) multiply();
  {
    const Tensor weight = WideWeight(s);
    of_normalised = s.Floats("gradient of the normalised form", s.x);
  }
  if (s.is(Implementation::kTextbook)) multiply();
  Tensor of_weight = s.Floats("gradient of the norm's weight", s.weight);
  product.Reset();
  if (s.narrow) {
    of_weight = s.Operands("gradient of the norm's weight", s.weight);
  }
  Free(gradient, normalised_);
  s.Keep(std::move(of_weight));
  return of_normalised;
}

void Norm::Backward(Step& s, Tensor gradient, Stream& to) {
  s.Enter("norm backward");
  s.component = Component::kNorm;
  if (IsOneKernel(s)) return KernelBackward(s, std::move(gradient), to);
  gradient = WeightBackward(s, std::move(gradient));
  Tensor product = s.Floats("gradient x x", s.x),
         direct = s.Floats("gradient / rms", s.x),
         of_inverse = s.Floats("gradient of 1 / rms", s.tokens);
  Free(product, gradient);
  // The stream's gradient, or that of its fp32 copy.
  Tensor copy;
  if (s.narrow) {
    copy = std::move(direct);
  } else {
    AddToStream(s, to, std::move(direct));
  }
  Tensor of_mean;
  {
    const Tensor cube = s.Floats("1 / rms^3", s.tokens),
                 half = s.Floats("-gradient / 2", s.tokens);
    of_mean = s.Floats("gradient of the mean of x^2", s.tokens);
  }
  Free(of_inverse, inverse_rms_);
  {
    const Tensor of_square = s.Floats("gradient of x^2", s.x);
    of_mean.Reset();
    const Tensor power = s.Floats("x", s.x), twice = s.Floats("2 x", s.x);
    direct = s.Floats("gradient through the rms", s.x);
  }
  Free(x_, direct);
  if (!s.narrow) return;
  Tensor narrow = s.Operands("gradient of the residual stream", s.x);
  copy.Reset();
  AddToStream(s, to, std::move(narrow));
}

// Adds the update to the stream, if there is one.
Tensor Norm::KernelForward(Step& s, Stream& stream) {
  added_ = static_cast<bool>(stream.update);
  if (added_) {
    const int64_t layer = s.ledger.layer();
    s.ledger.EnterLayer(stream.layer);
    x_ = s.Make(stream.name, s.x, s.stream);
    s.ledger.EnterLayer(layer);
  } else {
    x_ = stream.x;
  }
  const bool fused = s.is(Implementation::kFused);
  Tensor normed =
      s.Make({"input of ", consumer_}, s.x, fused ? s.operand : s.stream);
  inverse_rms_ = s.Floats({"1 / rms of the input of ", consumer_}, s.tokens);
  stream.x = x_;
  stream.update.Reset();
  x_ = s.Save(x_);
  inverse_rms_ = s.Save(inverse_rms_);
  return normed;
}

void Norm::KernelBackward(Step& s, Tensor gradient, Stream& to) {
  const bool narrowed = s.narrow && s.is(Implementation::kFused) &&
                        s.sizes.on_cpu;  // the weight's, after its sum
  Tensor partial = s.Floats("parts of the weight's gradient",
                            {"", PartialRows(s) * s.weight.elements});
  Stream result;
  result.x = s.Make("gradient of the residual stream", s.x, s.stream);
  if (added_) {
    result.update =
        s.autocast ? s.Operands("gradient of the update", s.x) : result.x;
  }
  Tensor of_weight = s.Make("gradient of the norm's weight", s.weight,
                            narrowed ? TensorType::kFloat : s.parameter);
  if (narrowed) {
    of_weight = s.Operands("gradient of the norm's weight", s.weight);
  }
  partial.Reset();
  Free(gradient, x_, inverse_rms_);
  s.Keep(std::move(of_weight));
  if (s.is(Implementation::kFused)) {
    to = std::move(result);
  } else {
    AddToStream(s, to, std::move(result.x));
  }
}

}  // namespace trainbench::ledger
