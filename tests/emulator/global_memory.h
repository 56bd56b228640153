// SPDX-License-Identifier: MIT
// What a kernel may touch of the host's memory, and who touches it.

#ifndef TRAINBENCH_TESTS_EMULATOR_GLOBAL_MEMORY_H_
#define TRAINBENCH_TESTS_EMULATOR_GLOBAL_MEMORY_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/emulator/access_record.h"

namespace trainbench::emulator {

class GlobalMemory {
 public:
  // Kernels may read the range, and write it if `writable`. Accesses of
  // elements of `element_bytes` are told apart: 2 for bf16. A range may be
  // larger than memory.
  void Allow(const void* begin, int64_t bytes, int element_bytes,
             bool writable);

  // Forgets the accesses, as the end of a kernel orders them before the next.
  void EndKernel();

  // What is wrong with touching the range, or null.
  const char* Touch(const void* begin, int bytes, Access access,
                    const Moment& now);

 private:
  static constexpr int64_t kPage = 256;
  using Page = std::vector<AccessRecord>;

  struct Range {
    const std::byte* begin;
    int64_t bytes;
    int element_bytes;
    bool writable;
    std::unordered_map<int64_t, Page> pages;  // of accesses, by element / kPage
  };

  std::vector<Range> ranges_;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_GLOBAL_MEMORY_H_
