// SPDX-License-Identifier: MIT
// The shared memory of a block, which records its accesses.

#ifndef TRAINBENCH_TESTS_EMULATOR_SHARED_MEMORY_H_
#define TRAINBENCH_TESTS_EMULATOR_SHARED_MEMORY_H_

#include <cstddef>
#include <vector>

#include "tests/emulator/access_record.h"

namespace trainbench::emulator {

// Initially filled with NaN. Each function returns an error message or null,
// and leaves memory unchanged if the place does not exist.
class SharedMemory {
 public:
  void Reset(int bytes);

  // `bytes` is a multiple of 4 and at most 16; `at` is a multiple of `bytes`.
  const char* Read(int at, void* to, int bytes, const Moment& now);
  const char* Write(int at, const void* from, int bytes, const Moment& now);

  // The 16 bytes at `at` are NaN and must not be accessed until EndCopy().
  const char* BeginCopy(int at, const Moment& now);
  const char* EndCopy(int at, const void* from, const Moment& now);

 private:
  static constexpr int kWordBytes = 4;

  const char* Misplaced(int at, int bytes) const;
  const char* Touch(int at, int bytes, Access access, const Moment& now);

  std::vector<std::byte> bytes_;
  std::vector<AccessRecord> words_;
  std::vector<bool> copying_;  // by word
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_SHARED_MEMORY_H_
