// SPDX-License-Identifier: MIT
// A block of CUDA threads, one fiber each.

#ifndef TRAINBENCH_TESTS_EMULATOR_BLOCK_H_
#define TRAINBENCH_TESTS_EMULATOR_BLOCK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/emulator/access_record.h"
#include "tests/emulator/fiber.h"
#include "tests/emulator/global_memory.h"
#include "tests/emulator/shared_memory.h"
#include "tests/emulator/warp_operation.h"

namespace trainbench::emulator {

// Threads run until they wait: at a block barrier for all threads of the block,
// in a warp operation for its lanes. Any error ends the run.
class Block {
 public:
  // `seed` sets the order of the threads. `memory` must outlive the block.
  Block(GlobalMemory* memory, uint64_t seed)
      : memory_(*memory), random_(seed) {}

  // Runs block `index` of `threads` threads, a multiple of 32. Returns an error
  // message that names the thread, or "".
  std::string Run(int64_t index, int threads, int shared_bytes,
                  const std::function<void()>& body);

  // The number of 8x8 matrices that ldmatrix has loaded from rows that do not
  // cover all banks.
  int64_t bank_conflicts() const { return bank_conflicts_; }

  // The running thread calls the following; an invalid call ends it.
  int64_t index() const { return index_; }
  int thread() const { return running_; }
  int threads() const { return static_cast<int>(threads_.size()); }

  void SyncBlock();
  // Waits until every lane of the warp has passed `mine` to the operation; the
  // last lane calls `compute` for all.
  using Compute = void (*)(Block& block, void* const (&lanes)[kWarp]);
  void Meet(WarpOperation operation, void* mine, Compute compute);
  void SyncWarp();

  void TouchGlobal(const void* begin, int bytes, Access access);
  void ReadShared(int at, void* to, int bytes);
  void WriteShared(int at, const void* from, int bytes);
  // ldmatrix.x4: `row` is the offset of this lane's row.
  void LoadMatrices(int row, bool transposed, uint32_t (&to)[4]);

  void BeginCopy(int at, const void* from, bool valid);
  void CommitCopies();
  // Completes copies until at most `groups` groups are in flight.
  void WaitForCopies(int groups);

 private:
  struct Copy {
    int at;
    unsigned char bytes[16];
  };
  struct Thread {
    std::vector<std::vector<Copy>> groups;  // the last one is open
  };
  struct Warp {
    int arrived = 0;
    WarpOperation operation = WarpOperation::kSyncWarp;
    void* lanes[kWarp] = {};
    int64_t barriers = 0;
  };

  Moment Now() const;
  // Ends the run unless `wrong` is null.
  void Check(const char* wrong);
  void Wait();
  int NextReady();
  void CountConflicts(const int (&rows)[kWarp]);

  GlobalMemory& memory_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // grows to the largest block
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<int> ready_;
  std::vector<int> at_barrier_;
  int64_t index_ = 0;
  int64_t barriers_ = 0;
  int running_ = 0;
  int64_t bank_conflicts_ = 0;
  std::string error_;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_BLOCK_H_
