// SPDX-License-Identifier: MIT
// One rank's part of a model that several ranks split matrix by matrix (tensor
// parallelism; Shoeybi et al. 2019, Megatron-LM).

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_TENSOR_PART_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_TENSOR_PART_H_

#include <cstdint>

#include "absl/status/status.h"
#include "model/spec/config.h"

namespace trainbench {

// first, first + 1, ..., first + count - 1.
struct IndexRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Rank `rank`'s part of 0 .. size-1, divided as evenly as possible in rank
// order. The first ranks may have one element more.
IndexRange PartOf(int64_t size, int64_t rank, int64_t ranks);

// The sizes of the rank's part: its heads, as wide as in the whole model, the
// key and value heads that they read, its channels of the feed-forward layers,
// its words of the vocabulary. Norms are not split. No rank has a larger part
// than rank 0.
ModelConfig PartOf(const ModelConfig& whole, int64_t rank, int64_t ranks);

// InvalidArgument unless the number of ranks divides heads and kv_heads and is
// at most d_ff and vocab. The error names the value and what is allowed.
absl::Status ValidateParts(const ModelConfig& whole, int64_t ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_TENSOR_PART_H_
