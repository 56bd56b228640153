// SPDX-License-Identifier: MIT
// Who touched a place of memory last, and whether that may race with who comes
// now.

#ifndef TRAINBENCH_TESTS_EMULATOR_ACCESS_RECORD_H_
#define TRAINBENCH_TESTS_EMULATOR_ACCESS_RECORD_H_

#include <cstdint>

namespace trainbench::emulator {

// A thread at a moment. Two threads of a block are ordered by a barrier between
// them, two threads of a warp by a barrier of the warp too, threads of two
// blocks by nothing.
struct Moment {
  int64_t block;
  int thread;
  int64_t block_barriers;
  int64_t warp_barriers;
};

enum class Access { kRead, kWrite, kAtomic };

// Record() returns what races, or null. Two accesses race when neither comes
// before the other and one is a write; atomic ones race with others only.
class AccessRecord {
 public:
  const char* Record(Access access, const Moment& now);

 private:
  // The last access of a kind, of the threads that have had it since.
  struct Last {
    bool any = false;
    bool many_blocks = false;
    bool many_warps = false;
    bool many_threads = false;
    Moment moment = {};

    bool Races(const Moment& now) const;
    void Add(const Moment& now);
  };

  Last read_;
  Last write_;
  Last atomic_;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_ACCESS_RECORD_H_
