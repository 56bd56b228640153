// SPDX-License-Identifier: MIT

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

using enum TensorType;

void CrossEntropy::Forward(Step& s, Tensor logits) {
  s.Enter("loss");
  s.component = Component::kCrossEntropy;
  if (s.is(Implementation::kFused)) {
    // The logits become their gradient.
    shifted_ = std::move(logits);
    s.MakeFloats("losses", s.tokens);
    return;
  }
  if (s.operand == kBfloat16) logits = s.MakeFloats("fp32 logits", s.logits);
  if (s.is(Implementation::kLibrary)) {
    shifted_ = s.MakeFloats("log softmax", s.logits);
    return;
  }
  {
    const Tensor maxima = s.MakeFloats("largest logits", s.tokens);
    indices_ = s.Make("indices of the largest logits", s.tokens, kLong);
    logits = s.MakeFloats("logits - maxima", s.logits);
  }
  shifted_ = logits;
  exponentials_ = s.MakeFloats("exp(logits)", s.logits);
  sums_ = s.MakeFloats("sums of the exponentials", s.tokens);
  const Tensor log_sums = s.MakeFloats("log sums", s.tokens);
  const Tensor chosen = s.MakeFloats("logits of the targets", s.tokens);
  s.MakeFloats("losses", s.tokens);
}

Tensor CrossEntropy::TextbookBackward(Step& s) {
  Tensor of_losses = s.MakeFloats("gradient of the losses", s.tokens);
  Tensor negated = s.MakeFloats("-gradient", s.tokens);
  Tensor gradient = s.MakeFloats("gradient of the logits", s.logits);
  negated.Reset();
  shifted_.Reset();
  Tensor of_sums = s.MakeFloats("gradient of the sums", s.tokens);
  of_losses.Reset();
  sums_.Reset();
  Tensor through = s.MakeFloats("gradient through exp", s.logits);
  of_sums.Reset();
  exponentials_.Reset();
  through.Reset();
  through = s.MakeFloats("-gradient", s.logits);
  Tensor of_maxima = s.MakeFloats("gradient of the maxima", s.tokens);
  through.Reset();
  through = s.MakeFloats("gradient of the maxima, by element", s.logits);
  of_maxima.Reset();
  indices_.Reset();
  return gradient;
}

Tensor CrossEntropy::Backward(Step& s) {
  s.Enter("loss backward");
  s.component = Component::kCrossEntropy;
  if (s.is(Implementation::kFused)) return std::move(shifted_);
  Tensor gradient;
  if (s.is(Implementation::kLibrary)) {
    const Tensor of_chosen =
        s.MakeFloats("gradient of the log softmax", s.logits);
    gradient = s.MakeFloats("gradient of the logits", s.logits);
  } else {
    gradient = TextbookBackward(s);
  }
  shifted_.Reset();
  if (s.operand == kBfloat16) {
    gradient = s.Make("gradient of the logits", s.logits, s.operand);
  }
  return gradient;
}

}  // namespace trainbench::ledger
