// SPDX-License-Identifier: MIT

#include "model/accounting/library.h"

#include <algorithm>
#include <limits>

namespace trainbench {
namespace {

constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kTilesOfAThread = 4 * kMiB;
constexpr int64_t kPage = 20 * kMiB;  // size of a segment of large blocks

}  // namespace

int64_t OneDnnBytesBound(int64_t result_elements, int threads) {
  const int64_t tiles = threads * kTilesOfAThread;
  if (result_elements > (kUncountable - tiles) / 4) return kUncountable;
  return 4 * result_elements + tiles;
}

int64_t ReservedBytes(int64_t block_bytes) {
  const int64_t unused = std::max(block_bytes / 100 * 3, 2 * kPage);
  return block_bytes > kUncountable - unused ? kUncountable
                                             : block_bytes + unused;
}

}  // namespace trainbench
