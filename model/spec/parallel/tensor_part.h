// SPDX-License-Identifier: MIT
// What one of several ranks has of a model that they share matrix by matrix
// (tensor parallelism; Shoeybi et al. 2019, Megatron-LM).

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

// Rank `rank`'s part of 0 .. size-1, divided as evenly as possible in the order
// of the ranks. Those of the first ranks may be larger by one.
IndexRange PartOf(int64_t size, int64_t rank, int64_t ranks);

// The sizes of the rank's part: its heads, as wide as in the whole model, and
// the heads of keys and values that they read, its channels of the feed-forward
// layers, its words of the vocabulary. Norms are whole. No rank has a larger
// part than rank 0.
ModelConfig PartOf(const ModelConfig& whole, int64_t rank, int64_t ranks);

// InvalidArgument unless the number of ranks divides the heads and those of
// keys and values and is at most d_ff and vocab. The error names the value and
// what is allowed.
absl::Status ValidateParts(const ModelConfig& whole, int64_t ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_TENSOR_PART_H_
