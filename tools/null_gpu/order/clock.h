// SPDX-License-Identifier: MIT
// A vector clock: the known progress of each stream.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_CLOCK_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_CLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace null_gpu {

// The tick-th operation of a stream, from 1.
struct Moment {
  size_t stream;
  uint64_t tick;
};

class Clock {
 public:
  uint64_t At(size_t stream) const {
    return stream < ticks_.size() ? ticks_[stream] : 0;
  }
  bool Knows(const Moment& moment) const {
    return At(moment.stream) >= moment.tick;
  }
  void Advance(const Moment& moment) {
    if (ticks_.size() <= moment.stream) ticks_.resize(moment.stream + 1);
    uint64_t& tick = ticks_[moment.stream];
    tick = std::max(tick, moment.tick);
  }
  void Join(const Clock& other) {
    for (size_t i = 0; i < other.ticks_.size(); ++i) {
      Advance({i, other.ticks_[i]});
    }
  }

 private:
  std::vector<uint64_t> ticks_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_CLOCK_H_
