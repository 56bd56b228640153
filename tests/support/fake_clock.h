// SPDX-License-Identifier: MIT
// A clock that stands still unless the test moves it.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "fixtures/base/poll.h"
#include "fixtures/device/clock.h"

namespace trainbench {

// Behaves like a host and one stream: enqueueing returns at once, the work
// starts when the stream is free, and the host continues unless it waits.
class FakeClock final : public Clock {
 public:
  // Keeps the host busy for `us`, without delaying the device.
  void AdvanceHost(double us) { host_us_ += us; }
  // Enqueues `us` of device work; the host does not wait.
  void AdvanceDevice(double us) { device_us_ = StreamEnd() + us; }
  // Does `us` of work on the host itself, as on a CPU.
  void Advance(double us) {
    AdvanceDevice(us);
    host_us_ = device_us_;
  }

  void Stamp(std::size_t slot) override {
    stamps_.at(slot) = StreamEnd();
    host_us_ += stamp_us_;
    stamped_us_.at(slot) = host_us_;
    pending_ = true;
  }
  void Wait() override {
    if (StreamEnd() - host_us_ > DeviceTimeoutSeconds() * 1e6) {
      throw DeviceTimeout("the fake device did not finish");
    }
    host_us_ = StreamEnd();
    pending_ = false;
    ++waits_;
  }
  double ElapsedUs(std::size_t from, std::size_t to) override {
    if (pending_) throw std::logic_error("a stamp was read before Wait()");
    return stamps_.at(to) - stamps_.at(from);
  }
  double ResolutionUs() const override { return 0.5; }
  void Adopt(std::size_t slot, RecordedStamp stamp) override {
    stamps_.at(slot) = *static_cast<const double*>(stamp);
  }
  double HostUs() override { return host_us_; }
  double UnixSeconds() override { return host_us_ * 1e-6; }
  double HostUsSince(std::size_t slot) override {
    return host_us_ - stamped_us_.at(slot);
  }
  bool CanHold() const override { return true; }
  void Hold(double us) override { AdvanceDevice(us); }
  bool Reached(std::size_t slot) override {
    return stamps_.at(slot) <= host_us_;
  }
  void StartCycles() override {
    AdvanceDevice(reading_us_);
    cycles_from_us_ = StreamEnd();
  }
  void StopCycles() override {
    const double us = StreamEnd() - cycles_from_us_;
    cycles_ = {us * mhz_, us};
  }
  Cycles GetCycles() override { return cycles_; }

  int waits() const { return waits_; }
  void set_mhz(double mhz) { mhz_ = mhz; }
  // The device's time for reading its cycles before a call.
  void set_reading_us(double us) { reading_us_ = us; }
  // The host's time for taking a stamp.
  void set_stamp_us(double us) { stamp_us_ = us; }

 private:
  // The time when the stream starts work that the host enqueues now.
  double StreamEnd() const { return std::max(host_us_, device_us_); }

  double host_us_ = 0;
  double device_us_ = 0;
  bool pending_ = false;
  int waits_ = 0;
  double stamp_us_ = 0;
  double mhz_ = 0;         // the device's clock
  double reading_us_ = 0;  // time to read the cycles
  double cycles_from_us_ = 0;
  Cycles cycles_ = {};
  std::array<double, kSlots> stamps_ = {};      // on the device
  std::array<double, kSlots> stamped_us_ = {};  // on the host
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_CLOCK_H_
