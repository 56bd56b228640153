// SPDX-License-Identifier: MIT

#include "model/accounting/ledger/step.h"

#include <utility>

#include "model/accounting/ledger/blocks.h"
#include "model/accounting/parameters.h"

namespace trainbench::ledger {
namespace {

bool IsBf16(const MemoryQuery& query) {
  return query.precision == Precision::kBf16;
}

AttentionSizes SizesOf(const MemoryQuery& query) {
  return {.batch = query.batch,
          .heads = query.config.heads,
          .seq = query.seq,
          .d_head = query.config.d_head(),
          .bf16 = IsBf16(query) || query.precision == Precision::kBf16Autocast,
          .on_cpu = !query.on_gpu,
          .graph = query.mode != StepMode::kInference,
          .threads = query.threads};
}

}  // namespace

Step::Step(const MemoryQuery& of, Ledger& to)
    : AttentionScene(to, SizesOf(of)),
      query(of),
      autocast(of.precision == Precision::kBf16Autocast),
      narrow(IsBf16(of)),
      parameter(narrow ? TensorType::kBfloat16 : TensorType::kFloat),
      stream(parameter),
      tokens{"B T", of.batch * of.seq},
      x{"B T d", tokens.elements * of.config.d_model},
      three_projections{"3 B T d", 3 * projection.elements},
      hidden{"B T d_ff", tokens.elements * of.config.d_ff},
      two_hidden{"2 B T d_ff", 2 * hidden.elements},
      logits{"B T V", tokens.elements * of.config.vocab},
      weight{"d", of.config.d_model},
      square{"d^2", of.config.d_model * of.config.d_attention()},
      three_squares{"3 d^2", 3 * square.elements},
      d_ff{"d d_ff", of.config.d_model * of.config.d_ff},
      two_d_ff{"2 d d_ff", 2 * d_ff.elements},
      embedding{"V d", of.config.vocab * of.config.d_model} {}

void Step::Keep(Tensor gradient) {
  if (holds_gradients) {
    held_gradient_bytes += gradient.bytes();
  } else if (units != nullptr) {
    return units->TakeGradient(std::move(gradient));
  } else {
    ledger.CountGradient(gradient);
  }
  gradients_.push_back(std::move(gradient));
}

void Step::HandGradientsOn() {
  const int64_t held = std::exchange(held_gradient_bytes, 0);
  if (units == nullptr) return ledger.Add(0, held);
  std::vector<Tensor> gradients = std::move(gradients_);
  gradients_.clear();
  for (Tensor& gradient : gradients) units->TakeGradient(std::move(gradient));
}

void Block::Forward(Step& s, Stream& stream, int64_t layer) {
  s.ledger.EnterLayer(layer);
  layer_ = layer;
  if (s.units != nullptr) s.units->BeforeBlock(layer);
  const auto add = [&](Tensor update, const char* name) {
    stream.name = name;
    stream.layer = layer;
    if (s.is(Implementation::kFused)) {
      stream.update = std::move(update);
      return;
    }
    s.component = Component::kResidual;
    const Tensor wide =
        s.autocast && s.sizes.on_cpu ? s.Floats("fp32 update", s.x) : Tensor();
    stream.x = s.Make(name, s.x, s.stream);
  };
  {
    const Tensor normed = norm1_.Forward(s, stream);
    add(attention_.Forward(s, normed), "residual stream after attention");
  }
  const Tensor normed = norm2_.Forward(s, stream);
  add(feed_forward_.Forward(s, normed),
      "residual stream after the feed-forward part");
  if (s.units != nullptr) s.units->AfterBlock(layer);
}

void Block::Backward(Step& s, Stream& gradient) {
  if (s.units != nullptr) s.units->BeforeBlockBackward(layer_);
  // The gradient of what a sublayer added to the stream.
  const auto of_update = [&] {
    if (s.is(Implementation::kFused)) return std::move(gradient.update);
    s.Enter("residual backward");
    s.component = Component::kResidual;
    return s.autocast ? s.Operands("gradient of the update", s.x) : gradient.x;
  };
  norm2_.Backward(s, feed_forward_.Backward(s, of_update()), gradient);
  norm1_.Backward(s, attention_.Backward(s, of_update()), gradient);
}

StepEnd RunStep(const MemoryQuery& query, Ledger& to, Units* units) {
  Step s(query, to);
  s.units = units;
  const int64_t resident = to.live();
  Layers layers(s);
  Embedding embedding;
  Norm norm("the head");
  Linear head("the head", s.embedding);
  Tensor logits;
  {
    Stream stream = embedding.Forward(s);
    layers.Forward(stream);
    const Tensor normed = norm.Forward(s, stream);
    to.Enter("logits");
    s.component = Component::kLmHead;
    logits = head.Forward(s, normed, !s.is(Implementation::kFused), "logits",
                          s.logits);
  }
  s.casts.clear();
  StepEnd end = layers.End();
  end.forward_events = to.events().size();
  if (query.mode == StepMode::kInference) return end;
  end.saved_bytes = to.live() - resident - logits.bytes();
  if (query.mode == StepMode::kForward) return end;
  CrossEntropy loss;
  loss.Forward(s, std::move(logits));
  if (units != nullptr) units->BeforeBackward();
  Tensor of_logits = loss.Backward(s);
  to.Enter("head backward");
  s.component = Component::kLmHead;
  GradientSum sum;
  head.Backward(s, std::move(of_logits), s.x, sum);
  Stream gradient;
  norm.Backward(s, std::move(sum.sum), gradient);
  layers.Backward(gradient);
  embedding.Backward(s, std::move(gradient));
  return end;
}

std::vector<TensorRecord> KeptByOneBlock(const MemoryQuery& query) {
  MemoryQuery one = query;
  one.mode = StepMode::kForward;
  one.config.layers = 1;
  if (one.config.checkpointing.kind == Checkpointing::Kind::kBlocks) {
    one.config.layers = 2;
    one.config.checkpointing.every = 1;
  }
  Ledger ledger;
  const StepEnd end = RunStep(one, ledger);
  std::vector<TensorRecord> kept = ledger.AliveAfter(end.forward_events);
  kept.pop_back();  // the logits
  return kept;
}

}  // namespace trainbench::ledger
