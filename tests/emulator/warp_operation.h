// SPDX-License-Identifier: MIT
// The operations that the 32 lanes of a warp compute together.

#ifndef TRAINBENCH_TESTS_EMULATOR_WARP_OPERATION_H_
#define TRAINBENCH_TESTS_EMULATOR_WARP_OPERATION_H_

#include <cstdint>

namespace trainbench::emulator {

inline constexpr int kWarp = 32;

enum class WarpOperation {
  kShuffleXor,
  kMma,
  kLoadMatrix,
  kLoadMatrixTransposed,
  kSyncWarp,
};

// The operands of one lane of mma.m16n8k16 with bf16 factors, as PTX lays them
// out (PTX ISA 8.x, 9.7.14.5.8): a[i] and b[i] are pairs, the lower one first.
struct MmaOperands {
  uint32_t a[4];
  uint32_t b[2];
  float c[4];
};

// c += a b for the matrices that the lanes hold together. Products are exact
// and are summed in fp32, in order of k.
void Mma(MmaOperands* const (&lanes)[kWarp]);

// Fills the registers of ldmatrix.x4: lane 8 i + r provides row r of the 8x8
// matrix i, and register i of a lane receives a pair of matrix i.
void SpreadMatrices(const uint16_t (&rows)[kWarp][8], bool transposed,
                    uint32_t (*const (&lanes)[kWarp])[4]);

// Rounds to nearest, ties to even, as cvt.rn.bf16.f32 does.
uint16_t RoundToBf16(float x);
float FromBf16(uint16_t bits);

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_WARP_OPERATION_H_
