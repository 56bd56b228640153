// SPDX-License-Identifier: MIT

#include "tests/emulator/warp_operation.h"

#include <bit>
#include <cmath>

namespace trainbench::emulator {

uint16_t RoundToBf16(float x) {
  if (std::isnan(x)) return 0x7fff;
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float FromBf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

void Mma(MmaOperands* const (&lanes)[kWarp]) {
  float a[16][16];
  float b[16][8];
  float c[16][8];
  for (int lane = 0; lane < kWarp; ++lane) {
    const MmaOperands& own = *lanes[lane];
    const int group = lane / 4;
    const int pair = lane % 4 * 2;
    for (int e = 0; e < 2; ++e) {
      for (int i = 0; i < 4; ++i) {
        a[group + i % 2 * 8][pair + e + i / 2 * 8] =
            FromBf16(static_cast<uint16_t>(own.a[i] >> (16 * e)));
        c[group + i / 2 * 8][pair + i % 2] = own.c[i];
      }
      for (int i = 0; i < 2; ++i) {
        b[pair + e + i * 8][group] =
            FromBf16(static_cast<uint16_t>(own.b[i] >> (16 * e)));
      }
    }
  }
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 16; ++k) {
      const float factor = a[row][k];
      for (int column = 0; column < 8; ++column) {
        c[row][column] += factor * b[k][column];
      }
    }
  }
  for (int lane = 0; lane < kWarp; ++lane) {
    for (int i = 0; i < 4; ++i) {
      lanes[lane]->c[i] = c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
    }
  }
}

void SpreadMatrices(const uint16_t (&rows)[kWarp][8], bool transposed,
                    uint32_t (*const (&lanes)[kWarp])[4]) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const int group = lane / 4;
    const int pair = lane % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      const auto at = [&](int row, int column) -> uint32_t {
        return transposed ? rows[8 * i + column][row]
                          : rows[8 * i + row][column];
      };
      (*lanes[lane])[i] = at(group, pair) | at(group, pair + 1) << 16;
    }
  }
}

}  // namespace trainbench::emulator
