// SPDX-License-Identifier: MIT
// Which tensors a variant of attention keeps, and where its memory may be at
// its highest. Naive attention's are stated here alone: attention.h, memory.h
// and saved_tensors.h look them up.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_FORMS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_FORMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/accounting/attention.h"
#include "model/spec/component.h"

namespace trainbench {

// Those of attention.h.
struct AttentionSymbols {
  int64_t S, N, M, R, e;
};

AttentionSymbols SymbolsOf(const AttentionQuery& query);

// How many elements a tensor has: S, N, M or R.
enum class AttentionSize { kScores, kInput, kMask, kRows };

struct AttentionTensor {
  std::string name;  // "exp(scores)"
  Component component;
  AttentionSize size;
  std::string dtype;  // "float", "bfloat16", "long" or "bool"
};

int64_t ElementsOf(const AttentionTensor& tensor,
                   const AttentionSymbols& symbols);
int64_t BytesPerElement(const std::string& dtype);

// A moment at which memory may be at its highest: s S + n N + m M + r R + other
// bytes beside the inputs, the output included where it is there.
struct AttentionMoment {
  std::string name;
  int64_t s = 0, n = 0, m = 0, r = 0;
  int64_t other = 0;  // buffers of kernels
  // Of e N each: the inputs, output and output's gradient that only a caller
  // holds who measures attention alone, and a model has freed by then.
  int64_t released = 0;
};

int64_t BytesOf(const AttentionMoment& moment, const AttentionSymbols& symbols);

struct AttentionForm {
  // What it keeps for the backward pass beside its inputs, in the order in
  // which the forward pass makes it. "output" is last, if it is kept.
  std::vector<AttentionTensor> saved = {};
  // Of q, k and v: all, v alone, or none if it keeps copies of its own.
  int inputs_kept = 3;
  // Its output is in memory [batch, seq, heads, d_head], so merging the heads
  // copies nothing.
  bool merges_heads = false;
  std::vector<AttentionMoment> forward = {};  // with a graph, but its end
  std::vector<AttentionMoment> backward = {};
  std::vector<AttentionMoment> inference = {};  // forward without a graph

  bool keeps_output() const;
  bool keeps_scores() const;
  int64_t SavedBytes(const AttentionSymbols& symbols) const;
};

// The form of the query's variant.
AttentionForm FormOf(const AttentionQuery& query);

// The forms that attention_variants.inc names.
AttentionForm NaiveForm(const AttentionQuery& query);
AttentionForm SdpaForm(const AttentionQuery& query);
AttentionForm SdpaMathForm(const AttentionQuery& query);
AttentionForm SdpaFlashForm(const AttentionQuery& query);
AttentionForm SdpaEfficientForm(const AttentionQuery& query);
AttentionForm SdpaCudnnForm(const AttentionQuery& query);
AttentionForm TiledForm(const AttentionQuery& query);
AttentionForm OwnForm(const AttentionQuery& query);
// Of any fused variant without buffers of its own: it keeps its output and the
// log-sum-exp of each row.
AttentionForm LogSumExpForm(const AttentionQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_FORMS_H_
