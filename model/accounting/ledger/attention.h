// SPDX-License-Identifier: MIT
// What each variant of attention makes, keeps and frees: in a step of a model
// and alone.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LEDGER_ATTENTION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LEDGER_ATTENTION_H_

#include <cstdint>
#include <functional>

#include "model/accounting/ledger/ledger.h"
#include "model/spec/attention_variant.h"

namespace trainbench::ledger {

struct AttentionSizes {
  int64_t batch = 1, heads = 1, seq = 1, d_head = 1;
  bool bf16 = false;  // else fp32
  bool on_cpu = true;
  bool graph = true;        // a backward pass follows
  int threads = 1;          // of the CPU; its kernels keep buffers for each
  int multiprocessors = 0;  // of the GPU, as in accounting/attention.h

  int64_t sequences() const { return batch * heads; }
};

// Where attention's tensors are made.
class AttentionScene {
 public:
  AttentionScene(Ledger& to, const AttentionSizes& sizes);

  Tensor Make(const TensorName& name, const TensorSize& size, TensorType type) {
    return ledger.Make(name, component, size, type);
  }
  Tensor Floats(const TensorName& name, const TensorSize& size) {
    return Make(name, size, TensorType::kFloat);
  }
  // In the type of a product's operands.
  Tensor Operands(const TensorName& name, const TensorSize& size) {
    return Make(name, size, operand);
  }
  // What the backward pass needs of it: nothing where none follows.
  Tensor Save(const Tensor& tensor) const {
    return sizes.graph ? tensor : Tensor();
  }
  // The heads of several sequences, lying between each other, as a product
  // needs them.
  Tensor Separated(const Tensor& from, const TensorName& name) {
    return Separated(from, name, operand);
  }
  Tensor Separated(const Tensor& from, const TensorName& name, TensorType type);
  void Enter(const char* moment) { ledger.Enter({moment, where}); }

  Ledger& ledger;
  AttentionSizes sizes;
  const TensorType operand;     // of products
  const TensorSize projection;  // q, k or v, and what their heads give
  const TensorSize rows, scores, mask;
  Component component = Component::kFusedAttention;
  const char* where = "";  // " of the last block"
};

// [batch, heads, seq, d_head] each.
struct Heads {
  Tensor q, k, v;
  // q and k lie as v does in a model, [batch, seq, heads, d_head].
  bool merged = false;
};

struct AttentionResult {
  Tensor output;
  // From the output's gradient, those of q, k and v; none without a graph.
  std::function<Heads(Tensor)> backward = {};
  // These lie [batch, seq, heads, d_head] in memory: merging the heads copies
  // nothing.
  bool merged = false;
  bool merged_v_gradient = false;
  bool transposed_k_gradient = false;  // as in memory
};

// What the variant allocates from q, k and v to its output.
AttentionResult Attend(AttentionKind kind, AttentionScene& s, const Heads& in);

// The functions that attention_variants.inc names.
AttentionResult NaiveMemory(AttentionScene& s, const Heads& in);
AttentionResult SdpaMemory(AttentionScene& s, const Heads& in);
AttentionResult SdpaMathMemory(AttentionScene& s, const Heads& in);
AttentionResult SdpaFlashMemory(AttentionScene& s, const Heads& in);
AttentionResult SdpaEfficientMemory(AttentionScene& s, const Heads& in);
AttentionResult SdpaCudnnMemory(AttentionScene& s, const Heads& in);
AttentionResult TiledMemory(AttentionScene& s, const Heads& in);
AttentionResult OwnMemory(AttentionScene& s, const Heads& in);
// Of any fused variant without buffers of its own: it keeps its output and the
// log-sum-exp of each row.
AttentionResult LogSumExpMemory(AttentionScene& s, const Heads& in);

// Naive attention of the fused implementation, whose softmax is one pass in
// place.
AttentionResult FusedNaiveMemory(AttentionScene& s, const Heads& in);

// The gradients of q, k and v.
Heads MakeGradients(AttentionScene& s);

// What the kernels of a fused variant make beside their results.
struct AttentionKernels {
  std::function<void(AttentionScene&)> forward = [](AttentionScene&) {};
  std::function<Heads(AttentionScene&)> backward = MakeGradients;
  bool separate_heads = false;  // they take each sequence in one piece
};
AttentionResult LogSumExpMemory(AttentionScene& s, const Heads& in,
                                const AttentionKernels& kernels);

}  // namespace trainbench::ledger

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LEDGER_ATTENTION_H_
