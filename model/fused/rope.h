// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_ROPE_H_
#define TRAINBENCH_MODEL_FUSED_ROPE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainbench {

// Each is [batch, heads, seq, d_head]; k and v may have fewer heads than q.
struct Heads {
  at::Tensor q, k, v;
};

// Splits qkv [batch, seq, (heads + 2 kv_heads) d_head], the joined projection
// to queries, keys and values, into heads, and rotates queries and keys (Su et
// al. 2021) by the angles with the given fp32 cosines and sines [at least seq,
// d_head / 2]. Overwrites qkv, and the results are views of it: move it in.
// Saves only the angles; the backward pass rotates in the opposite direction.
Heads SplitAndRotate(at::Tensor qkv, int64_t heads, int64_t kv_heads,
                     const at::Tensor& cos, const at::Tensor& sin);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ROPE_H_
