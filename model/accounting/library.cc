// SPDX-License-Identifier: MIT

#include "model/accounting/library.h"

#include <algorithm>
#include <limits>

namespace trainbench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kTilesOfAThread = 4 * kMiB;
constexpr int64_t kCublasWorkspaces = 2 * 32 * kMiB;
constexpr int64_t kPage = 20 * kMiB;  // of a segment of large blocks

}  // namespace

int64_t LibraryBytesBound(const LibraryQuery& query) {
  if (!query.on_cpu) return kCublasWorkspaces;
  const bool by_onednn = query.fp32_by_onednn ||
                         query.precision == Precision::kBf16 ||
                         query.precision == Precision::kBf16Autocast;
  if (!by_onednn) return 0;
  const int64_t tiles = query.threads * kTilesOfAThread;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (query.result_elements > (kMost - tiles) / 4) return kMost;
  return 4 * query.result_elements + tiles;
}

int64_t ReservedBytes(int64_t block_bytes) {
  const int64_t unused = std::max(block_bytes / 100 * 3, 2 * kPage);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return block_bytes > kMost - unused ? kMost : block_bytes + unused;
}

}  // namespace trainbench
