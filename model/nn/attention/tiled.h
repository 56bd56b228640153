// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_TILED_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_TILED_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainbench {

struct AttentionTiles {
  int64_t queries, keys;
};

// softmax(q k^T / sqrt(d)) v over the keys up to the query, in tiles of at
// least 16 queries and 16 keys. q, k and v [..., seq, d_head] -> the same shape
// and dtype. FlashAttention-2 (Dao 2023, algorithms 1 and 2) in tensor
// operations. Products are in the operands' dtype, sums and softmax in at least
// fp32. Saves q, k, v, the output and the log-sum-exp of each row.
at::Tensor TiledAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const AttentionTiles& tiles);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_TILED_H_
