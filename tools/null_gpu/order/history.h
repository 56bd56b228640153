// SPDX-License-Identifier: MIT
// Who read and wrote memory last, by address.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/null_gpu/order/access.h"
#include "tools/null_gpu/order/clock.h"

namespace null_gpu {

struct Touch {
  Moment moment;
  bool writes;
  const char* by;  // mangled name of a kernel, or what else did it
  uint64_t block;  // of Access
};

class History {
 public:
  // Adds the access. Returns an earlier one that `clock` does not know, if one
  // of the two writes.
  std::optional<Touch> Add(const Access& access, const Touch& touch,
                           const Clock& clock);

  // Any that `clock` does not know.
  std::optional<Touch> FindUnknown(const char* begin, size_t bytes,
                                   const Clock& clock) const;

  void Forget(const char* begin, size_t bytes);

 private:
  // From its key to here all bytes have the same past: the last write, and by
  // stream the last read since.
  struct Piece {
    const char* end;
    std::vector<Touch> touches;
  };
  using Pieces = std::map<const char*, Piece>;

  // Makes a piece end here, if one spans the address.
  void Cut(const char* at);
  void AddRead(const char* begin, const char* end, const Touch& touch);

  Pieces pieces_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_HISTORY_H_
