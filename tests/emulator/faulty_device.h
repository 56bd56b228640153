// SPDX-License-Identifier: MIT
// A device with one planted bug.

#ifndef TRAINBENCH_TESTS_EMULATOR_FAULTY_DEVICE_H_
#define TRAINBENCH_TESTS_EMULATOR_FAULTY_DEVICE_H_

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/emulator/device.h"

namespace trainbench::emulator {

enum class Fault {
  kNone,
  kSkippedBarrier,      // every thread skips the nth barrier
  kDivergentBarrier,    // thread 0 skips all barriers
  kSkippedWarpBarrier,  // every lane skips the warp barriers
  kEarlyWait,        // the nth wait for copies leaves one more group in flight
  kUncheckedTail,    // copies read past the end of a tensor
  kLostShuffle,      // the nth shuffle returns the lane's own value
  kSwappedMatrices,  // ldmatrix swaps its second and third matrix
  kWrongLayout,      // ldmatrix omits the transposition
  kForgottenShrink,  // the nth Exp2 returns 1
  kPlainAdd,         // an atomic addition is a load and a store
  kTruncation,       // conversion to bf16 truncates instead of rounding
};

class FaultyDevice : public Device {
 public:
  struct Options {
    Fault fault = Fault::kNone;
    int nth = 0;
  };

  FaultyDevice(emulator::Block* block, int64_t blocks, Options options)
      : Device(block, blocks, {}), options_(options) {}

  void SyncBlock() const {
    if (IsNow(Fault::kSkippedBarrier)) return;
    if (options_.fault == Fault::kDivergentBarrier && Thread() == 0) return;
    Device::SyncBlock();
  }
  void SyncWarp() const {
    if (!Is(Fault::kSkippedWarpBarrier)) Device::SyncWarp();
  }
  template <int groups>
  void Wait() const {
    if (IsNow(Fault::kEarlyWait)) return Device::Wait<groups + 1>();
    Device::Wait<groups>();
  }
  void CopyAsync16(int at, const void* from, bool valid) const {
    Device::CopyAsync16(at, from, valid || Is(Fault::kUncheckedTail));
  }
  float ShuffleXor(float x, int mask) const {
    return Device::ShuffleXor(x, IsNow(Fault::kLostShuffle) ? 0 : mask);
  }
  void LoadMatrix4(uint32_t (&to)[4], int at) const {
    Device::LoadMatrix4(to, at);
    if (Is(Fault::kSwappedMatrices)) std::swap(to[1], to[2]);
  }
  void LoadMatrix4Transposed(uint32_t (&to)[4], int at) const {
    if (Is(Fault::kWrongLayout)) return Device::LoadMatrix4(to, at);
    Device::LoadMatrix4Transposed(to, at);
  }
  float Exp2(float x) const {
    return IsNow(Fault::kForgottenShrink) ? 1 : Device::Exp2(x);
  }
  void AtomicAdd(float* to, float x) const {
    if (!Is(Fault::kPlainAdd)) return Device::AtomicAdd(to, x);
    Store(to, Load(to) + x);
  }
  uint32_t Pack2(float low, float high) const {
    if (!Is(Fault::kTruncation)) return Device::Pack2(low, high);
    return std::bit_cast<uint32_t>(low) >> 16 |
           (std::bit_cast<uint32_t>(high) & 0xffff0000u);
  }

 private:
  bool Is(Fault fault) const { return options_.fault == fault; }

  // Returns whether this is the thread's nth call for `fault` in its block.
  bool IsNow(Fault fault) const {
    if (!Is(fault)) return false;
    if (block_ != Block()) {
      block_ = Block();
      calls_.assign(Threads(), 0);
    }
    return calls_[Thread()]++ == options_.nth;
  }

  Options options_;
  mutable int64_t block_ = -1;
  mutable std::vector<int> calls_;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_FAULTY_DEVICE_H_
