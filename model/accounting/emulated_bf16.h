// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_EMULATED_BF16_H_
#define TRAINBENCH_MODEL_ACCOUNTING_EMULATED_BF16_H_

#include <cstdint>

namespace trainbench {

// Bytes that oneDNN takes for one bf16 product with a result of rows x columns
// on a CPU without bf16 instructions: it sums in fp32, in an aligned block.
constexpr int64_t EmulatedBf16Scratch(int64_t rows, int64_t columns) {
  return 4 * rows * columns + 128;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_EMULATED_BF16_H_
