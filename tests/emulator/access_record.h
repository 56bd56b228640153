// SPDX-License-Identifier: MIT
// The last accesses to a place of memory, and whether a new access races with
// one of them.

#ifndef TRAINBENCH_TESTS_EMULATOR_ACCESS_RECORD_H_
#define TRAINBENCH_TESTS_EMULATOR_ACCESS_RECORD_H_

#include <cstdint>

namespace trainbench::emulator {

// A thread at a moment. Two threads of a block are ordered by a barrier between
// them, two threads of a warp also by a warp barrier; threads of different
// blocks are never ordered.
struct Moment {
  int64_t block;
  int thread;
  int64_t block_barriers;
  int64_t warp_barriers;
};

enum class Access { kRead, kWrite, kAtomic };

// Record() describes the race, or returns null. Two accesses race if they are
// unordered and one is a write; atomic ones do not race with each other.
class AccessRecord {
 public:
  const char* Record(Access access, const Moment& now);

 private:
  // The last access of a kind, and which threads have made one since then.
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
