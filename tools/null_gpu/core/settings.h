// SPDX-License-Identifier: MIT
// The environment variables of the null GPU, read once. An invalid value ends
// the process.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_SETTINGS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_SETTINGS_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "tools/null_gpu/core/fault.h"
#include "tools/null_gpu/core/profile.h"
#include "tools/null_gpu/core/rates.h"

namespace null_gpu {

struct Settings {
  const Profile* profile = nullptr;  // TRAINBENCH_NULL_GPU, "h100" if unset
  int devices;                       // TRAINBENCH_NULL_GPU_COUNT, 1 if unset
  // TRAINBENCH_NULL_GPU_EXCLUSIVE is "1": the compute mode EXCLUSIVE_PROCESS
  // is reported. No other process is refused.
  bool exclusive;
  // TRAINBENCH_NULL_GPU_VALUES is "1": device memory is host memory, copies
  // copy, fills fill, and kernels with a body (kernel.h) run it.
  bool values;
  bool order;          // TRAINBENCH_NULL_GPU_ORDER is "1": order/order.h
  std::string report;  // TRAINBENCH_NULL_GPU_REPORT, a file to append to
  // TRAINBENCH_NULL_GPU_SPINS is "1": kernels with "SpinKernel" in their names
  // take the nanoseconds of their first argument, an int64_t.
  bool spins;
  // The most launches in a stream, as on a real GPU. The host waits before it
  // enqueues one more.
  size_t queue = 1024;
  // TRAINBENCH_NULL_GPU_SKEW: the delay of a device's times in a profile, in
  // nanoseconds, 9000 if unset. Negative: they are early.
  int64_t skew_ns;
  FaultPlan faults;  // TRAINBENCH_NULL_GPU_FAULT
  // TRAINBENCH_NULL_GPU_RATES, a file. Predicts the time of other operations,
  // which otherwise take 1000 ns.
  std::optional<Rates> rates;

  // Whether the null GPU must find the memory that operations access.
  bool watches_memory() const { return order || rates.has_value(); }
};

Settings& GetSettings();

// Prints "null GPU: " and the message, and aborts.
[[noreturn]] void Die(std::string_view message);

// Returns whether the whole text is a number that fits, and stores it.
template <typename Integer>
bool ParseNumber(std::string_view text, Integer& number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_SETTINGS_H_
