// SPDX-License-Identifier: MIT
// The device of model/kernels/device.h on a CPU.

#ifndef TRAINBENCH_TESTS_EMULATOR_DEVICE_H_
#define TRAINBENCH_TESTS_EMULATOR_DEVICE_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/emulator/block.h"

namespace trainbench::emulator {

class Device {
 public:
  struct Options {};

  // The device of a launch of `blocks` blocks; `block` runs one at a time.
  Device(emulator::Block* block, int64_t blocks, Options)
      : block_(*block), blocks_(blocks) {}

  int Thread() const { return block_.thread(); }
  int Threads() const { return block_.threads(); }
  int64_t Block() const { return block_.index(); }
  int64_t Blocks() const { return blocks_; }

  void SyncBlock() const { block_.SyncBlock(); }
  void SyncWarp() const { block_.SyncWarp(); }

  template <class T>
  T Load(const T* from) const {
    block_.TouchGlobal(from, sizeof(T), Access::kRead);
    return *from;
  }
  template <class T>
  void Store(T* to, const T& x) const {
    block_.TouchGlobal(to, sizeof(T), Access::kWrite);
    *to = x;
  }
  void AtomicAdd(float* to, float x) const {
    block_.TouchGlobal(to, sizeof(float), Access::kAtomic);
    *to += x;
  }

  template <class T>
  T LoadShared(int at) const {
    T x;
    block_.ReadShared(at, &x, sizeof(T));
    return x;
  }
  template <class T>
  void StoreShared(int at, const T& x) const {
    block_.WriteShared(at, &x, sizeof(T));
  }

  void CopyAsync16(int at, const void* from, bool valid) const {
    block_.BeginCopy(at, from, valid);
  }
  void Commit() const { block_.CommitCopies(); }
  template <int groups>
  void Wait() const {
    block_.WaitForCopies(groups);
  }

  void LoadMatrix4(uint32_t (&to)[4], int at) const {
    block_.LoadMatrices(at, /*transposed=*/false, to);
  }
  void LoadMatrix4Transposed(uint32_t (&to)[4], int at) const {
    block_.LoadMatrices(at, /*transposed=*/true, to);
  }
  void Mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
           uint32_t b1) const;
  float ShuffleXor(float x, int mask) const;

  float Exp2(float x) const { return std::exp2(x); }
  float Exp(float x) const { return std::exp(x); }
  float Log(float x) const { return std::log(x); }
  float Rsqrt(float x) const { return 1 / std::sqrt(x); }
  uint32_t Pack2(float low, float high) const {
    return RoundToBf16(low) | static_cast<uint32_t>(RoundToBf16(high)) << 16;
  }

 private:
  emulator::Block& block_;
  int64_t blocks_;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_DEVICE_H_
