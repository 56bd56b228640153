// SPDX-License-Identifier: MIT

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

using enum TensorType;

void CrossEntropy::Forward(Step& s, Tensor logits) {
  s.Enter("loss");
  s.component = Component::kCrossEntropy;
  if (s.is_shared()) return SharedForward(s, std::move(logits));
  if (s.is(Implementation::kFused)) {
    // The logits become their gradient.
    shifted_ = std::move(logits);
    s.Floats("losses", s.tokens);
    return;
  }
  if (s.operand == kBfloat16) logits = s.Floats("fp32 logits", s.logits);
  if (s.is(Implementation::kLibrary)) {
    shifted_ = s.Floats("log softmax", s.logits);
    return;
  }
  {
    const Tensor maxima = s.Floats("largest logits", s.tokens);
    indices_ = s.Make("indices of the largest logits", s.tokens, kLong);
    logits = s.Floats("logits - maxima", s.logits);
  }
  shifted_ = logits;
  exponentials_ = s.Floats("exp(logits)", s.logits);
  sums_ = s.Floats("sums of the exponentials", s.tokens);
  const Tensor log_sums = s.Floats("log sums", s.tokens);
  const Tensor chosen = s.Floats("logits of the targets", s.tokens);
  s.Floats("losses", s.tokens);
}

Tensor CrossEntropy::TextbookBackward(Step& s) {
  Tensor of_losses = s.Floats("gradient of the losses", s.tokens);
  Tensor negated = s.Floats("-gradient", s.tokens);
  Tensor gradient = s.Floats("gradient of the logits", s.logits);
  Free(negated, shifted_);
  Tensor of_sums = s.Floats("gradient of the sums", s.tokens);
  Free(of_losses, sums_);
  Tensor through = s.Floats("gradient through exp", s.logits);
  Free(of_sums, exponentials_, through);
  through = s.Floats("-gradient", s.logits);
  Tensor of_maxima = s.Floats("gradient of the maxima", s.tokens);
  through.Reset();
  through = s.Floats("gradient of the maxima, by element", s.logits);
  Free(of_maxima, indices_);
  return gradient;
}

Tensor CrossEntropy::Backward(Step& s) {
  s.Enter("loss backward");
  s.component = Component::kCrossEntropy;
  if (s.is_shared()) return SharedBackward(s);
  if (s.is(Implementation::kFused)) return std::move(shifted_);
  Tensor gradient;
  if (s.is(Implementation::kLibrary)) {
    const Tensor of_chosen = s.Floats("gradient of the log softmax", s.logits);
    gradient = s.Floats("gradient of the logits", s.logits);
  } else {
    gradient = TextbookBackward(s);
  }
  shifted_.Reset();
  if (s.operand == kBfloat16) {
    gradient = s.Operands("gradient of the logits", s.logits);
  }
  return gradient;
}

}  // namespace trainbench::ledger
