// SPDX-License-Identifier: MIT

#include "tests/emulator/device.h"

namespace trainbench::emulator {

void Device::Mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                 uint32_t b1) const {
  MmaOperands mine{
      {a[0], a[1], a[2], a[3]}, {b0, b1}, {c[0], c[1], c[2], c[3]}};
  block_.Meet(WarpOperation::kMma, &mine,
              [](emulator::Block&, void* const(&lanes)[kWarp]) {
                MmaOperands* operands[kWarp];
                for (int i = 0; i < kWarp; ++i) {
                  operands[i] = static_cast<MmaOperands*>(lanes[i]);
                }
                emulator::Mma(operands);
              });
  std::memcpy(c, mine.c, sizeof(mine.c));
}

float Device::ShuffleXor(float x, int mask) const {
  struct Lane {
    float x;
    int mask;
    float result;
  } mine{x, mask, 0};
  block_.Meet(WarpOperation::kShuffleXor, &mine,
              [](emulator::Block&, void* const(&lanes)[kWarp]) {
                for (int i = 0; i < kWarp; ++i) {
                  Lane& lane = *static_cast<Lane*>(lanes[i]);
                  lane.result = static_cast<Lane*>(lanes[i ^ lane.mask])->x;
                }
              });
  return mine.result;
}

}  // namespace trainbench::emulator
