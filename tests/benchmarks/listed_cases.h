// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TESTS_BENCHMARKS_LISTED_CASES_H_
#define TRAINBENCH_TESTS_BENCHMARKS_LISTED_CASES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {

// A CPU or an H200 on which every row is available, though nothing is run.
inline const Device& ListedDevice(DeviceKind kind) {
  static const Device cpu = [] {
    Device device;
    device.native_bf16 = true;
    return device;
  }();
  static const Device gpu = [] {
    Device device;
    device.kind = DeviceKind::kCuda;
    device.name = "NVIDIA H200";
    device.memory_bytes = int64_t{139} << 30;
    device.native_bf16 = true;
    return device;
  }();
  return kind == DeviceKind::kCuda ? gpu : cpu;
}

// Returns all cases of a suite. Lists them only once: kPaper takes seconds.
inline const std::vector<Case>& ListedCases(Suite suite, DeviceKind kind) {
  static auto& lists =
      *new std::map<std::pair<Suite, DeviceKind>, std::vector<Case>>;
  const auto [list, is_new] = lists.try_emplace({suite, kind});
  if (is_new) {
    RunOptions options;
    options.suite = suite;
    list->second = ListCases(options, ListedDevice(kind));
  }
  return list->second;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_BENCHMARKS_LISTED_CASES_H_
