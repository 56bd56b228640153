// SPDX-License-Identifier: MIT
// A clock that stands still unless the test moves it.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "fixtures/device/clock.h"

namespace trainbench {

// Behaves like a host and one stream: work is enqueued at once, begins when
// the stream is free, and the host goes on unless it waits.
class FakeClock final : public Clock {
 public:
  // The host is busy for `us`; the device is not held up.
  void AdvanceHost(double us) { host_us_ += us; }
  // The host enqueues `us` of device work and goes on without waiting.
  void AdvanceDevice(double us) { device_us_ = StreamEnd() + us; }
  // The host does the work itself, as on a CPU.
  void Advance(double us) {
    AdvanceDevice(us);
    host_us_ = device_us_;
  }

  void Stamp(std::size_t slot) override {
    stamps_.at(slot) = StreamEnd();
    pending_ = true;
  }
  void Wait() override {
    host_us_ = StreamEnd();
    pending_ = false;
    ++waits_;
  }
  double ElapsedUs(std::size_t from, std::size_t to) override {
    if (pending_) throw std::logic_error("a stamp was read before Wait()");
    return stamps_.at(to) - stamps_.at(from);
  }
  double HostUs() override { return host_us_; }

  int waits() const { return waits_; }

 private:
  // When the stream reaches work that the host enqueues now.
  double StreamEnd() const { return std::max(host_us_, device_us_); }

  double host_us_ = 0;
  double device_us_ = 0;
  bool pending_ = false;
  int waits_ = 0;
  std::array<double, kSlots> stamps_ = {};
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_
