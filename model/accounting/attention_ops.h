// SPDX-License-Identifier: MIT
// FLOPs and bytes of the parts of attention, each alone and without a graph:
// Q K^T, the softmax between, and P V. Symbols as in accounting/attention.h
// with a head axis: S = batch * heads * seq^2, N = batch * heads * seq *
// d_head, R = batch * heads * seq; e is the width of an element.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_OPS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_OPS_H_

#include <cstdint>

#include "model/spec/attention_op.h"

namespace trainbench {

struct AttentionOpQuery {
  AttentionOp part = AttentionOp::kQk;
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t seq = 1;
  int64_t d_head = 1;
  bool bf16 = false;  // else fp32
};

// Products: 2 S d_head. Softmax: 5 per score (compare, subtract, exponential,
// add, divide), an exponential counted as one.
double AttentionOpFlops(const AttentionOpQuery& query);

// Bytes moved between operators and memory if each reads its inputs and writes
// its result once:
//   qk             reads Q and K, writes S: 2 e N + e S
//   pv             reads P and V, writes the output: e S + 2 e N
//   softmax_fused  reads and writes S: 2 e S
//   softmax_naive  max reads S; subtract, exp and divide read and write it, sum
//                  reads it: 8 passes of 4 S. With bf16 widening and narrowing
//                  as well, 6 S each.
double AttentionOpBytes(const AttentionOpQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_OPS_H_
