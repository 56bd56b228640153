// SPDX-License-Identifier: MIT
// The blocks of a step, in a row or in segments that are recomputed.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LEDGER_BLOCKS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LEDGER_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

// A row of equal parts, of which the second stands for those between it and the
// last: the ledger has the tensors of three of them and the bytes of all. Where
// units gather them, each stands for itself.
class LikeSecond {
 public:
  LikeSecond(const Step& s, int64_t count);

  std::size_t represented() const { return represented_; }
  // For how many others the second one stands.
  int64_t others() const { return others_; }
  // The number of a represented part among all.
  int64_t Number(std::size_t index) const;
  // Does `work` for a part, and books its bytes for those it stands for.
  template <typename Work>
  void Do(Step& s, std::size_t index, Work work) const {
    const Booked before = Read(s);
    work();
    if (index == 1) Repeat(s, before);
  }

 private:
  struct Booked {
    int64_t live, gradients, held_gradients;
  };
  static Booked Read(const Step& s);
  void Repeat(Step& s, const Booked& before) const;

  int64_t others_;
  std::size_t represented_;
};

// Consecutive blocks.
class Blocks {
 public:
  Blocks(Step& s, int64_t first, int64_t count);
  void Forward(Stream& stream);
  void Backward(Stream& gradient);

 private:
  void Enter(int64_t layer);
  void Leave();

  Step& s_;
  const int64_t first_;
  const LikeSecond parts_;
  std::vector<Block> blocks_;
};

// All blocks: model/nn/transformer_lm.cc, model/nn/checkpoint.cc.
class Layers {
 public:
  explicit Layers(Step& s);
  void Forward(Stream& stream);
  void Backward(Stream& gradient);
  // Which blocks stand for others, and for how many.
  StepEnd End() const;

 private:
  Blocks Segment(std::size_t index) const;
  void Recompute(std::size_t index, Stream& gradient);

  Step& s_;
  const int64_t segment_;  // blocks in it; 0: nothing is recomputed
  const LikeSecond rows_;  // segments, or blocks if nothing is recomputed
  Blocks all_;
  std::vector<Stream> kept_;  // the input of each segment
};

}  // namespace trainbench::ledger

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LEDGER_BLOCKS_H_
