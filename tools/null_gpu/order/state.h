// SPDX-License-Identifier: MIT
// State that the files of order/ share. Everything here requires StreamMutex().

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

// Adds the accesses of the operation. Dies if one is unordered with an access
// in the history; `words` describes an access.
void CheckOrder(History& history, const Operation& operation, const Moment& now,
                const Clock& clock, std::string (*words)(const Touch&));

// Returns "<kernel><where> reads".
std::string WordsOf(const Touch& touch, const std::string& where);
// Returns "<kernel> on stream 7 of device 0 reads".
std::string OnStream(const Touch& touch);

// Adds to the stream's clock what the host knows, and the work for which the
// legacy default stream makes it wait.
void CatchUp(Stream& stream);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_STATE_H_
