// SPDX-License-Identifier: MIT

#include "model/accounting/ledger/step.h"

#include <algorithm>
#include <cstddef>
#include <utility>

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
  ledger.CountGradient(gradient);
  gradients_.push_back(std::move(gradient));
}

void Block::Forward(Step& s, Stream& stream, int64_t layer) {
  s.ledger.EnterLayer(layer);
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
}

void Block::Backward(Step& s, Stream& gradient) {
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

namespace {

// All blocks, of which the second stands for those between it and the last.
class Blocks {
 public:
  explicit Blocks(Step& s)
      : s_(s),
        layers_(s.query.config.layers),
        like_second_(std::max<int64_t>(0, layers_ - 3)),
        blocks_(static_cast<std::size_t>(layers_ - like_second_), Block(s)) {}

  void Forward(Stream& stream) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const int64_t before = s_.ledger.live();
      const int64_t layer = Layer(i);
      if (s_.sizes.graph) s_.where = Where(layer);
      blocks_[i].Forward(s_, stream, layer);
      if (i == 1) s_.ledger.Add(like_second_ * (s_.ledger.live() - before));
    }
    Leave();
  }

  void Backward(Stream& gradient) {
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      const int64_t before = s_.ledger.live();
      const int64_t gradients = s_.ledger.gradients();
      s_.where = Where(Layer(i));
      blocks_[i].Backward(s_, gradient);
      if (i == 1) {
        s_.ledger.Add(like_second_ * (s_.ledger.live() - before),
                      like_second_ * (s_.ledger.gradients() - gradients));
      }
    }
    Leave();
  }

 private:
  int64_t Layer(std::size_t index) const {
    return static_cast<int64_t>(index) + (index > 1 ? like_second_ : 0);
  }
  const char* Where(int64_t layer) const {
    if (layer == layers_ - 1) return " of the last block";
    return layer == 0 ? " of the first block" : " of a middle block";
  }
  void Leave() {
    s_.where = "";
    s_.ledger.EnterLayer(-1);
  }

  Step& s_;
  const int64_t layers_, like_second_;
  std::vector<Block> blocks_;
};

}  // namespace

StepEnd RunStep(const MemoryQuery& query, Ledger& to) {
  Step s(query, to);
  const int64_t resident = to.live();
  Blocks blocks(s);
  Embedding embedding;
  Norm norm("the head");
  Linear head("the head", s.embedding);
  Tensor logits;
  {
    Stream stream = embedding.Forward(s);
    blocks.Forward(stream);
    const Tensor normed = norm.Forward(s, stream);
    to.Enter("logits");
    s.component = Component::kLmHead;
    logits = head.Forward(s, normed, !s.is(Implementation::kFused), "logits",
                          s.logits);
  }
  s.casts.clear();
  StepEnd end = {.forward_events = to.events().size()};
  if (query.mode == StepMode::kInference) return end;
  end.saved_bytes = to.live() - resident - logits.bytes();
  if (query.mode == StepMode::kForward) return end;
  CrossEntropy loss;
  loss.Forward(s, std::move(logits));
  Tensor of_logits = loss.Backward(s);
  to.Enter("head backward");
  s.component = Component::kLmHead;
  GradientSum sum;
  head.Backward(s, std::move(of_logits), s.x, sum);
  Stream gradient;
  norm.Backward(s, std::move(sum.sum), gradient);
  blocks.Backward(gradient);
  embedding.Backward(s, std::move(gradient));
  return end;
}

std::vector<TensorRecord> KeptByOneBlock(const MemoryQuery& query) {
  MemoryQuery one = query;
  one.mode = StepMode::kForward;
  one.config.layers = 1;
  Ledger ledger;
  const StepEnd end = RunStep(one, ledger);
  std::vector<TensorRecord> kept = ledger.AliveAfter(end.forward_events);
  kept.pop_back();  // the logits
  return kept;
}

}  // namespace trainbench::ledger
