// SPDX-License-Identifier: MIT
// The last reads and writes of memory, by address.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/null_gpu/order/clock.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

struct Touch {
  Moment moment;
  bool writes;
  const char* by;  // mangled name of a kernel, "a copy" or "a fill"
  uint64_t block;  // of Access
};

class History {
 public:
  // Adds the access. Returns an earlier one that `clock` does not know, if one
  // of the two is a write.
  std::optional<Touch> Add(const Access& access, const Touch& touch,
                           const Clock& clock);

  // Returns any access that `clock` does not know.
  std::optional<Touch> FindUnknown(const char* begin, size_t bytes,
                                   const Clock& clock) const;

  void Forget(const char* begin, size_t bytes);

 private:
  // All bytes from its key to `end` have the same history: the last write, and
  // each stream's last read since then.
  struct Piece {
    const char* end;
    std::vector<Touch> touches;
  };
  using Pieces = std::map<const char*, Piece>;

  // Splits the piece that spans the address, if any.
  void Cut(const char* at);
  void AddRead(const char* begin, const char* end, const Touch& touch);

  Pieces pieces_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_
