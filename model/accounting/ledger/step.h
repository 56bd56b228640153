// SPDX-License-Identifier: MIT
// A step whose tensors a ledger records, and the layers of model/nn and
// model/fused, which make and free them in the same order. Numbers of a few
// bytes are left out.
//
// Autograd, as far as memory sees it: a node's gradient is freed when the
// node's own results are there, and then what the node saved. Nodes run in the
// reverse order of the forward pass. A second gradient of the same tensor is
// added in place, unless the first is a view.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LEDGER_STEP_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LEDGER_STEP_H_

#include <cstdint>
#include <vector>

#include "model/accounting/ledger/attention.h"
#include "model/accounting/ledger/ledger.h"
#include "model/accounting/ledger/units.h"
#include "model/accounting/memory.h"

namespace trainbench::ledger {

class Step : public AttentionScene {
 public:
  Step(const MemoryQuery& query, Ledger& to);

  bool is(Implementation implementation) const {
    return query.config.implementation == implementation;
  }
  // Whether ranks share the matrices. What they sum they sum in place.
  bool is_shared() const { return query.tensor_ranks > 1; }
  // A parameter's gradient, which stays, unless units take it.
  void Keep(Tensor gradient);
  // Those that a checkpoint's node has held are complete now.
  void HandGradientsOn();

  const MemoryQuery query;
  const bool autocast, narrow;         // narrow: bf16 throughout
  const TensorType parameter, stream;  // stream: of the residual stream
  const TensorSize tokens, x, three_projections, hidden, two_hidden, logits;
  const TensorSize weight;  // of a norm
  const TensorSize square, three_squares, d_ff, two_d_ff, embedding;
  // Autocast's copies of weights, until the forward pass is over.
  std::vector<Tensor> casts;
  Units* units = nullptr;  // null: all parameters are there all the time
  bool caches_casts = true;
  // Of the checkpoint that is done again.
  bool recomputes = false;       // its forward pass
  bool holds_gradients = false;  // of parameters, until all are there
  int64_t held_gradient_bytes = 0;

 private:
  std::vector<Tensor> gradients_;
};

// What runs through the blocks, and its gradient (model/nn/residual_stream.h).
struct Stream {
  Tensor x, update;
  // Of the sum of both, and the block that it belongs to.
  const char* name = "embedded tokens";
  int64_t layer = -1;
};

// model/nn/rms_norm.cc, model/fused/rms_norm.cc.
class Norm {
 public:
  explicit Norm(const char* consumer) : consumer_(consumer) {}
  Tensor Forward(Step& s, Stream& stream);
  void Backward(Step& s, Tensor gradient, Stream& to);

 private:
  Tensor WeightBackward(Step& s, Tensor gradient);
  Tensor KernelForward(Step& s, Stream& stream);
  void KernelBackward(Step& s, Tensor gradient, Stream& to);

  const char* consumer_;  // of the norm's output
  bool added_ = false;    // an update to the stream
  Tensor x_, inverse_rms_, normalised_;
};

// The gradient of a tensor that several products read.
struct GradientSum {
  void Add(Step& s, Tensor term, bool is_view);

  Tensor sum;
  bool sum_is_view = false;
};

// x W^T: at::linear.
class Linear {
 public:
  Linear(const char* name, const TensorSize& matrix)
      : name_(name), matrix_(matrix) {}
  // x is in fp32 under autocast if it is `wide`.
  Tensor Forward(Step& s, const Tensor& x, bool wide, const TensorName& result,
                 const TensorSize& size);
  // Adds x's gradient [`size`] to `sum`.
  void Backward(Step& s, Tensor gradient, const TensorSize& size,
                GradientSum& sum);

 private:
  const char* name_;
  const TensorSize matrix_;
  bool widened_ = false;  // x, in the backward pass
  Tensor x_, copy_;
};

// Several matrices in one product: model/fused/product.cc.
class JoinedProduct {
 public:
  JoinedProduct(const char* name, const TensorSize& matrix)
      : name_(name), matrix_(matrix) {}
  Tensor Forward(Step& s, const Tensor& x, const TensorName& result,
                 const TensorSize& size);
  Tensor Backward(Step& s, Tensor gradient);

 private:
  const char* name_;
  const TensorSize matrix_;
  Tensor x_, copy_;
};

// model/nn/attention.cc.
class AttentionLayer {
 public:
  explicit AttentionLayer(const Step& s);
  Tensor Forward(Step& s, const Tensor& x);
  Tensor Backward(Step& s, Tensor gradient);

 private:
  Heads ProjectAndRotate(Step& s, const Tensor& x);
  AttentionResult Mix(Step& s, const Heads& in) const;
  Heads MixBackward(Step& s, Tensor gradient);
  Tensor FusedBackward(Step& s, Heads gradients);

  Linear q_, k_, v_, output_;
  JoinedProduct joined_;
  AttentionResult attended_;
  Heads kept_;  // of a checkpoint
};

// model/nn/feed_forward.cc, model/fused/swiglu.cc.
class FeedForward {
 public:
  explicit FeedForward(const Step& s);
  Tensor Forward(Step& s, const Tensor& x);
  Tensor Backward(Step& s, Tensor gradient);

 private:
  Linear w1_, w3_, w2_;
  JoinedProduct joined_;
  Tensor gate_, sigmoid_, silu_, value_;
};

inline constexpr char kFeedForwardPart[] = "the feed-forward part";

// model/nn/block.cc.
class Block {
 public:
  explicit Block(const Step& s) : attention_(s), feed_forward_(s) {}
  void Forward(Step& s, Stream& stream, int64_t layer);
  void Backward(Step& s, Stream& gradient);

 private:
  int64_t layer_ = 0;
  Norm norm1_{"attention"}, norm2_{kFeedForwardPart};
  AttentionLayer attention_;
  FeedForward feed_forward_;
};

// Where a shared vocabulary has this rank's words, and which are not.
struct WordIds {
  Tensor rows, foreign;
};

// model/nn/embedding.cc.
class Embedding {
 public:
  Stream Forward(Step& s);
  void Backward(Step& s, Stream gradient);

 private:
  WordIds ids_;
};

// model/nn/cross_entropy.cc, model/fused/cross_entropy.cc.
class CrossEntropy {
 public:
  void Forward(Step& s, Tensor logits);
  Tensor Backward(Step& s);  // the gradient of the logits

 private:
  Tensor TextbookBackward(Step& s);
  void SharedForward(Step& s, Tensor logits);
  Tensor SharedBackward(Step& s);

  WordIds ids_;
  Tensor shifted_, indices_, exponentials_, sums_;
};

struct StepEnd {
  // How many tensors of the step one of this block stands for: in the second
  // block, or segment of blocks, more than one.
  int64_t CountOf(int64_t layer) const {
    return layer >= repeated_from && layer < repeated_to ? 1 + others : 1;
  }

  std::size_t forward_events = 0;  // of the ledger
  int64_t saved_bytes = 0;         // between forward and backward pass
  int64_t repeated_from = 0, repeated_to = 0, others = 0;
};

// Makes and frees the tensors of a whole step, in `to`. Of the blocks between
// the second and the last the ledger has the bytes alone. `units` are told what
// the step does, if there are any.
StepEnd RunStep(const MemoryQuery& query, Ledger& to, Units* units = nullptr);

// What is alive between the forward and the backward pass of a model with one
// block, logits excluded: of layer 0 and, outside the block, of layer -1. Where
// blocks are recomputed, layer 0 is a segment that another follows.
std::vector<TensorRecord> KeptByOneBlock(const MemoryQuery& query);

}  // namespace trainbench::ledger

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LEDGER_STEP_H_
