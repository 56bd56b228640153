// SPDX-License-Identifier: MIT
// What the files of order/ share. All of it wants StreamMutex() held.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_STATE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/clock.h"
#include "tools/null_gpu/order/history.h"
#include "tools/null_gpu/streams/operation.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {

struct OrderState {
  struct StreamName {
    int device;
    uint32_t id;
  };
  std::vector<StreamName> names;  // by Moment::stream
  Clock host;
  Clock latest;  // knows everything
  History history;
};

OrderState& GetOrderState();

inline bool IsOrderChecked() { return GetSettings().order; }

// Adds what the operation touches. Dies where that is not in order with what
// the history has; `words` tell who touches.
void CheckOrder(History& history, const Operation& operation, const Moment& now,
                const Clock& clock, std::string (*words)(const Touch&));

// "<kernel><where> reads"
std::string WordsOf(const Touch& touch, const std::string& where);
// "<kernel> on stream 7 of device 0 reads"
std::string OnStream(const Touch& touch);

// The stream's next operation knows what the host knows, and what the legacy
// default stream makes it wait for.
void CatchUp(Stream& stream);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_STATE_H_
