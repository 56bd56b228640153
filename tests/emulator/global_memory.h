// SPDX-License-Identifier: MIT
// The host memory that a kernel may access, and the record of its accesses.

#ifndef TRAINBENCH_TESTS_EMULATOR_GLOBAL_MEMORY_H_
#define TRAINBENCH_TESTS_EMULATOR_GLOBAL_MEMORY_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/emulator/access_record.h"

namespace trainbench::emulator {

class GlobalMemory {
 public:
  // Kernels may read the range, and write it if `writable`. Accesses are
  // tracked per element of `element_bytes`: 2 for bf16. A range may be larger
  // than memory.
  void Allow(const void* begin, int64_t bytes, int element_bytes,
             bool writable);

  // Forgets all accesses: the next kernel starts after this one has ended.
  void EndKernel();

  // Returns an error message if the range must not be accessed, or null.
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
