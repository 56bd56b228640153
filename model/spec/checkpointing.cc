// SPDX-License-Identifier: MIT

#include "model/spec/checkpointing.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/spec/not_allowed.h"

namespace trainbench {
namespace {

constexpr int64_t kMostBlocks = int64_t{1} << 20;  // per segment

}  // namespace

int64_t Checkpointing::SegmentOf(int64_t layers) const {
  if (kind != Kind::kBlocks) return 0;
  if (every > 0) return std::min(every, layers);
  return std::llround(std::sqrt(static_cast<double>(layers)));
}

std::string CheckpointingName(const Checkpointing& checkpointing) {
  using enum Checkpointing::Kind;
  switch (checkpointing.kind) {
    case kNone:
      return "none";
    case kAttention:
      return "attention";
    case kBlocks:
      return checkpointing.every > 0
                 ? absl::StrCat("every_", checkpointing.every)
                 : "every_sqrt";
  }
  return "unknown";
}

std::string CheckpointingNames() {
  return absl::StrCat("none, attention, every_sqrt, or every_1 to every_",
                      kMostBlocks);
}

absl::StatusOr<Checkpointing> ParseCheckpointing(absl::string_view name) {
  using enum Checkpointing::Kind;
  if (name == "none") return Checkpointing{};
  if (name == "attention") return Checkpointing{kAttention};
  absl::string_view blocks = name;
  if (absl::ConsumePrefix(&blocks, "every_")) {
    if (blocks == "sqrt") return Checkpointing{kBlocks};
    int64_t every = 0;
    if (absl::SimpleAtoi(blocks, &every) && every >= 1 &&
        every <= kMostBlocks) {
      return Checkpointing{kBlocks, every};
    }
  }
  return TextNotAllowed("checkpoint", name, CheckpointingNames());
}

}  // namespace trainbench
