// SPDX-License-Identifier: MIT

#include "tests/emulator/block.h"

#include <cstring>

namespace trainbench::emulator {

std::string Block::Run(int64_t index, int threads, int shared_bytes,
                       const std::function<void()>& body) {
  while (static_cast<int>(fibers_.size()) < threads) {
    fibers_.push_back(std::make_unique<Fiber>());
  }
  index_ = index;
  barriers_ = 0;
  error_.clear();
  shared_.Reset(shared_bytes);
  threads_.assign(threads, Thread{{{}}});
  warps_.assign(threads / kWarp, Warp());
  ready_.clear();
  at_barrier_.clear();
  for (int i = threads - 1; i >= 0; --i) {
    fibers_[i]->Start(&body);
    ready_.push_back(i);
  }
  int left = threads;
  while (left > 0 && error_.empty()) {
    if (ready_.empty()) {
      return "threads wait for others, which do not come to the same barrier "
             "or operation of a warp";
    }
    running_ = NextReady();
    fibers_[running_]->Resume();
    if (fibers_[running_]->done()) --left;
  }
  return error_;
}

int Block::NextReady() {
  std::swap(ready_[random_() % ready_.size()], ready_.back());
  const int next = ready_.back();
  ready_.pop_back();
  return next;
}

void Block::Wait() { fibers_[running_]->Yield(); }

void Block::Check(const char* wrong) {
  if (wrong == nullptr) return;
  error_ = "block " + std::to_string(index_) + ", thread " +
           std::to_string(running_) + ": " + wrong;
  Wait();
}

Moment Block::Now() const {
  return {index_, running_, barriers_, warps_[running_ / kWarp].barriers};
}

void Block::SyncBlock() {
  at_barrier_.push_back(running_);
  if (static_cast<int>(at_barrier_.size()) < threads()) return Wait();
  ++barriers_;
  at_barrier_.pop_back();
  ready_.insert(ready_.end(), at_barrier_.begin(), at_barrier_.end());
  at_barrier_.clear();
}

void Block::Meet(WarpOperation operation, void* mine, Compute compute) {
  Warp& warp = warps_[running_ / kWarp];
  if (warp.arrived == 0) warp.operation = operation;
  if (warp.operation != operation) {
    Check("meets lanes that are in another operation");
  }
  warp.lanes[running_ % kWarp] = mine;
  if (++warp.arrived < kWarp) return Wait();
  compute(*this, warp.lanes);
  warp.arrived = 0;
  const int first = running_ / kWarp * kWarp;
  for (int i = first; i < first + kWarp; ++i) {
    if (i != running_) ready_.push_back(i);
  }
}

void Block::SyncWarp() {
  Meet(WarpOperation::kSyncWarp, nullptr,
       [](Block& block, void* const(&)[kWarp]) {
         ++block.warps_[block.running_ / kWarp].barriers;
       });
}

void Block::TouchGlobal(const void* begin, int bytes, Access access) {
  Check(memory_.Touch(begin, bytes, access, Now()));
}

void Block::ReadShared(int at, void* to, int bytes) {
  Check(shared_.Read(at, to, bytes, Now()));
}

void Block::WriteShared(int at, const void* from, int bytes) {
  Check(shared_.Write(at, from, bytes, Now()));
}

void Block::LoadMatrices(int row, bool transposed, uint32_t (&to)[4]) {
  struct Lane {
    int row;
    uint16_t values[8];
    uint32_t (*to)[4];
  } mine{row, {}, &to};
  ReadShared(row, mine.values, sizeof(mine.values));
  Meet(transposed ? WarpOperation::kLoadMatrixTransposed
                  : WarpOperation::kLoadMatrix,
       &mine, [](Block& block, void* const(&lanes)[kWarp]) {
         const bool flipped = block.warps_[block.running_ / kWarp].operation ==
                              WarpOperation::kLoadMatrixTransposed;
         int rows[kWarp];
         uint16_t values[kWarp][8];
         uint32_t(*registers[kWarp])[4];
         for (int i = 0; i < kWarp; ++i) {
           const Lane& lane = *static_cast<Lane*>(lanes[i]);
           rows[i] = lane.row;
           std::memcpy(values[i], lane.values, sizeof(lane.values));
           registers[i] = lane.to;
         }
         block.CountConflicts(rows);
         SpreadMatrices(values, flipped, registers);
       });
}

// Shared memory serves 128 bytes per cycle: 8 rows of 16 bytes, if no two of
// them fall into the same 16 of 128 bytes.
void Block::CountConflicts(const int (&rows)[kWarp]) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    unsigned banks = 0;
    for (int i = 0; i < 8; ++i) banks |= 1u << (rows[8 * matrix + i] / 16 % 8);
    if (banks != 0xff) ++bank_conflicts_;
  }
}

void Block::BeginCopy(int at, const void* from, bool valid) {
  Copy copy{at, {}};
  if (valid) {
    TouchGlobal(from, sizeof(copy.bytes), Access::kRead);
    std::memcpy(copy.bytes, from, sizeof(copy.bytes));
  }
  Check(shared_.BeginCopy(at, Now()));
  threads_[running_].groups.back().push_back(copy);
}

void Block::CommitCopies() { threads_[running_].groups.emplace_back(); }

void Block::WaitForCopies(int groups) {
  auto& under_way = threads_[running_].groups;
  while (static_cast<int>(under_way.size()) - 1 > groups) {
    for (const Copy& copy : under_way.front()) {
      Check(shared_.EndCopy(copy.at, copy.bytes, Now()));
    }
    under_way.erase(under_way.begin());
  }
}

}  // namespace trainbench::emulator
