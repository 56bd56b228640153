// SPDX-License-Identifier: MIT
// What the backward pass computes again instead of keeping it, by name.

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
    // The scores of attention and their product with v, whose inputs q, k and v
    // are kept (Korthikanti et al. 2022, selective recomputation).
    kAttention,
    // Segments of blocks, of which the first one's input is kept (Chen et al.
    // 2016).
    kBlocks,
  };
  Kind kind = Kind::kNone;
  // Blocks of a segment; 0: about the square root of all, where what the
  // segments keep and what one of them needs while it runs again are in
  // balance.
  int64_t every = 0;

  // How many blocks a segment of a model has; 0 unless blocks are recomputed.
  int64_t SegmentOf(int64_t layers) const;

  bool operator==(const Checkpointing&) const = default;
};

// "none", "attention", "every_2", "every_sqrt".
std::string CheckpointingName(const Checkpointing& checkpointing);

// What can be asked for, as text: "none, attention, every_sqrt, or ...".
std::string CheckpointingNames();

// InvalidArgument names the value and what is allowed.
absl::StatusOr<Checkpointing> ParseCheckpointing(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CHECKPOINTING_H_
