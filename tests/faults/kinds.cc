// SPDX-License-Identifier: MIT

#include "tests/faults/kinds.h"

#include <ATen/ops/empty.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>

namespace trainbench {
namespace {

void Sleep(int64_t milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void ThrowInBuild() { throw std::runtime_error("cannot be built"); }

// Builds once, then throws: the first repetition succeeds, a later one fails.
void ThrowInSecondBuild() {
  static int builds = 0;
  if (++builds > 1) throw std::runtime_error("cannot be built again");
}

absl::Status WrongResult() {
  return absl::DataLossError("c[0] is 3, should be 4");
}

void ThrowInRun(FaultState& state) {
  if (state.calls >= 3) throw std::runtime_error("no third call");
}

void ThrowNoException(FaultState&) { throw 7; }

// Exceeds the address space, so overcommit cannot grant it.
void BadAlloc(FaultState&) { at::empty({int64_t{1} << 46}, at::kFloat); }

void StdBadAlloc(FaultState& state) {
  const std::vector<char> huge(std::size_t{1} << 60);
  state.calls += huge[0];
}

void Leak(FaultState& state) { state.kept.push_back(at::empty({1024})); }

void Terminate(FaultState&) {
  std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
}

void Abort(FaultState&) { std::abort(); }

void Exit(FaultState&) {
  std::fputs("cannot go on\n", stderr);
  std::_Exit(7);
}

void Hang(FaultState&) { Sleep(3'600'000); }

// Alternates between 25 and 75 ms, so the median's confidence interval stays
// wide.
void Slow(FaultState& state) { Sleep(state.calls % 2 == 0 ? 25 : 75); }

}  // namespace

const std::vector<FaultKind>& FaultKinds() {
  static const auto* const kinds = new std::vector<FaultKind>{
      {.name = "good"},
      {.name = "throw_in_build", .build = ThrowInBuild},
      {.name = "throw_in_second_build", .build = ThrowInSecondBuild},
      {.name = "wrong_result", .check = WrongResult},
      {.name = "throw_in_run", .run = ThrowInRun},
      {.name = "throw_no_exception", .run = ThrowNoException},
      {.name = "bad_alloc", .run = BadAlloc},
      {.name = "std_bad_alloc", .run = StdBadAlloc},
      {.name = "leak", .run = Leak},
      {.name = "impossible", .flops = 1e18},
      {.name = "nan_cost", .flops = std::numeric_limits<double>::quiet_NaN()},
      {.name = "terminate", .run = Terminate},
      {.name = "abort", .run = Abort},
      {.name = "hang", .run = Hang},
      {.name = "slow", .run = Slow},
      {.name = "fresh_good", .fresh_process = true},
      {.name = "fresh_wrong", .check = WrongResult, .fresh_process = true},
      {.name = "fresh_terminate", .run = Terminate, .fresh_process = true},
      {.name = "fresh_exit", .run = Exit, .fresh_process = true},
      {.name = "fresh_hang", .run = Hang, .fresh_process = true},
      {.name = "good"},
  };
  return *kinds;
}

}  // namespace trainbench
