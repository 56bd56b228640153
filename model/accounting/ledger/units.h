// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LEDGER_UNITS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LEDGER_UNITS_H_

#include <cstdint>

#include "model/accounting/ledger/ledger.h"

namespace trainbench::ledger {

// Whoever gathers the parameters of a step, unit by unit, and takes their
// gradients. Blocks have an index; a recomputed block begins and ends twice.
class Units {
 public:
  virtual ~Units() = default;

  virtual void BeforeForward() = 0;
  virtual void BeforeBlock(int64_t layer) = 0;
  virtual void AfterBlock(int64_t layer) = 0;
  virtual void BeforeBackward() = 0;
  virtual void BeforeBlockBackward(int64_t layer) = 0;
  // A complete gradient, as soon as the node that made it is done.
  virtual void TakeGradient(Tensor gradient) = 0;
};

}  // namespace trainbench::ledger

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LEDGER_UNITS_H_
