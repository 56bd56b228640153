// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_NUMBER_H_
#define TRAINBENCH_MODEL_ACCOUNTING_NUMBER_H_

#include <cstdint>

namespace trainbench {

// Converts a count to a factor in a formula.
inline double Number(int64_t count) { return static_cast<double>(count); }

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_NUMBER_H_
