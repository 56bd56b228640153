// SPDX-License-Identifier: MIT

#include "model/accounting/ledger/blocks.h"

#include <algorithm>
#include <utility>

namespace trainbench::ledger {

LikeSecond::LikeSecond(const Step& s, int64_t count)
    : others_(s.units == nullptr ? std::max<int64_t>(0, count - 3) : 0),
      represented_(static_cast<std::size_t>(count - others_)) {}

int64_t LikeSecond::Number(std::size_t index) const {
  return static_cast<int64_t>(index) + (index > 1 ? others_ : 0);
}

LikeSecond::Booked LikeSecond::Read(const Step& s) {
  return {s.ledger.live(), s.ledger.gradients(), s.held_gradient_bytes};
}

void LikeSecond::Repeat(Step& s, const Booked& before) const {
  const Booked now = Read(s);
  s.ledger.Add(others_ * (now.live - before.live),
               others_ * (now.gradients - before.gradients));
  s.held_gradient_bytes +=
      others_ * (now.held_gradients - before.held_gradients);
}

Blocks::Blocks(Step& s, int64_t first, int64_t count)
    : s_(s),
      first_(first),
      parts_(s, count),
      blocks_(parts_.represented(), Block(s)) {}

void Blocks::Forward(Stream& stream) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const int64_t layer = first_ + parts_.Number(i);
    parts_.Do(s_, i, [&] {
      if (s_.query.mode != StepMode::kInference) Enter(layer);
      blocks_[i].Forward(s_, stream, layer);
    });
  }
  Leave();
}

void Blocks::Backward(Stream& gradient) {
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    parts_.Do(s_, i, [&] {
      Enter(first_ + parts_.Number(i));
      blocks_[i].Backward(s_, gradient);
    });
  }
  Leave();
}

void Blocks::Enter(int64_t layer) {
  if (layer == s_.query.config.layers - 1) {
    s_.where =
        s_.recomputes ? " of the last block, recomputed" : " of the last block";
  } else if (layer == 0) {
    s_.where = s_.recomputes ? " of the first block, recomputed"
                             : " of the first block";
  } else {
    s_.where =
        s_.recomputes ? " of a middle block, recomputed" : " of a middle block";
  }
}

void Blocks::Leave() {
  s_.where = "";
  s_.ledger.EnterLayer(-1);
}

Layers::Layers(Step& s)
    : s_(s),
      segment_(s.sizes.graph ? s.query.config.checkpointing.SegmentOf(
                                   s.query.config.layers)
                             : 0),
      rows_(s, segment_ == 0
                   ? s.query.config.layers
                   : (s.query.config.layers + segment_ - 1) / segment_),
      all_(s, 0, s.query.config.layers),
      kept_(rows_.represented()) {}

StepEnd Layers::End() const {
  const int64_t row = std::max<int64_t>(1, segment_);
  return {
      .repeated_from = row, .repeated_to = 2 * row, .others = rows_.others()};
}

Blocks Layers::Segment(std::size_t index) const {
  const int64_t first = segment_ * rows_.Number(index);
  return {s_, first, std::min(segment_, s_.query.config.layers - first)};
}

void Layers::Forward(Stream& stream) {
  if (segment_ == 0) return all_.Forward(stream);
  s_.sizes.graph = s_.caches_casts = false;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    rows_.Do(s_, i, [&] {
      kept_[i] = stream;
      Segment(i).Forward(stream);
    });
  }
  s_.sizes.graph = s_.caches_casts = true;
}

void Layers::Recompute(std::size_t index, Stream& gradient) {
  // Autograd's node holds it until it has its result.
  const Stream of_results = gradient;
  Blocks blocks = Segment(index);
  {
    s_.recomputes = true;
    Stream stream = kept_[index];
    blocks.Forward(stream);
    s_.recomputes = false;
  }
  blocks.Backward(gradient);
  s_.HandGradientsOn();
}

void Layers::Backward(Stream& gradient) {
  if (segment_ == 0) return all_.Backward(gradient);
  s_.caches_casts = false;
  s_.holds_gradients = true;
  for (std::size_t i = kept_.size(); i-- > 0;) {
    rows_.Do(s_, i, [&] {
      Recompute(i, gradient);
      kept_[i] = {};
    });
  }
  s_.holds_gradients = false;
}

}  // namespace trainbench::ledger
