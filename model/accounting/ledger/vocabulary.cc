// SPDX-License-Identifier: MIT
// The two ends of a model: model/nn/embedding.cc, and of a vocabulary that
// ranks share model/distributed/tensor_parallel/vocabulary.cc.

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {
namespace {

WordIds FindWords(Step& s) {
  const Tensor local =
      s.Make("ids from the first word", s.tokens, TensorType::kLong);
  Tensor rows = s.Make("ids of rows", s.tokens, TensorType::kLong);
  Tensor foreign =
      s.Make("whether a word is foreign", s.tokens, TensorType::kBool);
  return {std::move(rows), std::move(foreign)};
}

WordIds Saved(const Step& s, const WordIds& ids) {
  return {s.Save(ids.rows), s.Save(ids.foreign)};
}

}  // namespace

Stream Embedding::Forward(Step& s) {
  s.ledger.Enter("embedding");
  if (s.units != nullptr) s.units->BeforeForward();
  s.component = Component::kEmbedding;
  const WordIds ids = s.is_shared() ? FindWords(s) : WordIds();
  ids_ = Saved(s, ids);
  Stream stream;
  stream.x = s.Make(stream.name, s.x, s.stream);
  return stream;
}

void Embedding::Backward(Step& s, Stream gradient) {
  s.ledger.Enter("end of backward");
  s.component = Component::kEmbedding;
  if (s.is_shared()) {
    gradient.x = s.Make("gradient of this rank's words", s.x, s.stream);
    ids_.foreign.Reset();
  }
  s.Keep(s.Make("gradient of the embedding", s.embedding, s.parameter));
  ids_ = {};
}

void CrossEntropy::SharedForward(Step& s, Tensor logits) {
  if (s.operand == TensorType::kBfloat16) {
    logits = s.Floats("fp32 logits", s.logits);
  }
  s.Floats("largest logits", s.tokens);
  const WordIds ids = FindWords(s);
  Tensor chosen = s.Floats("logits of the targets", s.tokens), both;
  {
    const Tensor sums = s.Floats("sums of the exponentials", s.tokens);
    both = s.Floats("both, to be summed", {"2 B T", 2 * s.tokens.elements});
  }
  chosen.Reset();
  shifted_ = s.Save(logits);
  sums_ = s.Save(both);
  ids_ = Saved(s, ids);
  s.Floats("losses", s.tokens);
}

Tensor CrossEntropy::SharedBackward(Step& s) {
  s.Floats("factors of the exponentials", s.tokens);
  {
    const Tensor ones = s.Floats("gradient of the targets", s.tokens);
    sums_.Reset();
    ids_ = {};
  }
  Tensor gradient = std::move(shifted_);
  if (s.operand == TensorType::kBfloat16) {
    gradient = s.Operands("gradient of the logits", s.logits);
  }
  return gradient;
}

}  // namespace trainbench::ledger
