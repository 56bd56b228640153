// SPDX-License-Identifier: MIT

#include "model/spec/parallel/tensor_part.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace trainbench {

IndexRange PartOf(int64_t size, int64_t rank, int64_t ranks) {
  const int64_t least = size / ranks, larger = size % ranks;
  return {rank * least + std::min(rank, larger),
          least + (rank < larger ? 1 : 0)};
}

ModelConfig PartOf(const ModelConfig& whole, int64_t rank, int64_t ranks) {
  ModelConfig part = whole;
  if (ranks == 1) return part;
  part.head_width = whole.d_head();
  part.heads = PartOf(whole.heads, rank, ranks).count;
  // The key and value heads that the part's query heads read; 0 stays 0.
  part.kv_heads = PartOf(whole.kv_heads, rank, ranks).count;
  part.d_ff = PartOf(whole.d_ff, rank, ranks).count;
  part.vocab = PartOf(whole.vocab, rank, ranks).count;
  return part;
}

absl::Status ValidateParts(const ModelConfig& whole, int64_t ranks) {
  if (ranks < 1 || whole.heads % ranks != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        ranks, " ranks share the ", whole.heads, " heads of ", whole.name,
        "; allowed: a number of ranks that divides the heads"));
  }
  if (whole.key_value_heads() % ranks != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        ranks, " ranks share the ", whole.kv_heads, " kv_heads of ", whole.name,
        "; allowed: a number of ranks that divides the kv_heads"));
  }
  const int64_t most = std::min(whole.d_ff, whole.vocab);
  if (ranks <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ranks, " ranks share a model with d_ff ", whole.d_ff,
                   " and vocab ", whole.vocab, "; allowed: at most ", most));
}

}  // namespace trainbench
