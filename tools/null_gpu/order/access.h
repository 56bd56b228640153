// SPDX-License-Identifier: MIT
// Memory that an operation reads or writes.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_ACCESS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace null_gpu {

struct Access {
  const char* begin;
  // 0 if only a pointer is known: the rest of its block counts.
  size_t bytes;
  bool writes;
  uint64_t block = 0;  // which allocation; locate.h fills it in
};

using Accesses = std::vector<Access>;

inline Access ReadOf(const void* from, size_t bytes = 0) {
  return {static_cast<const char*>(from), bytes, /*writes=*/false};
}
inline Access WriteOf(const void* to, size_t bytes = 0) {
  return {static_cast<const char*>(to), bytes, /*writes=*/true};
}

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_ACCESS_H_
