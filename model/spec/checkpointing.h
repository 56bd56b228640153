// SPDX-License-Identifier: MIT
// The activations that the backward pass recomputes, by name.

#ifndef TRAINBENCH_MODEL_SPEC_CHECKPOINTING_H_
#define TRAINBENCH_MODEL_SPEC_CHECKPOINTING_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

struct Checkpointing {
  enum class Kind {
    kNone,
    // The scores of attention and their product with v. The inputs q, k and v
    // are kept (selective recomputation, Korthikanti et al. 2022).
    kAttention,
    // Segments of blocks. Only the input of a segment is kept (Chen et al.
    // 2016).
    kBlocks,
  };
  Kind kind = Kind::kNone;
  // Blocks per segment; 0: about the square root of the number of layers, which
  // balances the inputs that the segments keep against the activations of the
  // one segment that is being recomputed.
  int64_t every = 0;

  // Blocks per segment in a model of `layers` blocks; 0 unless kind is kBlocks.
  int64_t SegmentOf(int64_t layers) const;

  bool operator==(const Checkpointing&) const = default;
};

// "none", "attention", "every_2", "every_sqrt".
std::string CheckpointingName(const Checkpointing& checkpointing);

// The accepted names, as text: "none, attention, every_sqrt, or ...".
std::string CheckpointingNames();

// InvalidArgument names the value and lists the accepted names.
absl::StatusOr<Checkpointing> ParseCheckpointing(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CHECKPOINTING_H_
