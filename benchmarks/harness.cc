// SPDX-License-Identifier: MIT
// Question: Is the timer accurate? What does an empty call cost, and is a known
//   duration reported as that duration? How much time does it save to keep a
//   CPU's pages between calls?
// Expect: A spin of 1000 us, which ends by the device's own nanosecond clock,
//   is reported within 1 %: 990 to 1010 us. If not, no other row of this run
//   can be trusted. An empty call takes two readings of the clock on a CPU, far
//   below 2 us, or two events on a GPU, about 2 us; there driven_us adds the
//   host's time between the events, about 5 us in all. On a CPU the caching
//   allocator about halves the time to allocate and write 64 MiB. malloc
//   maps the tensor again in each call: 16384 page faults of 0.25 us or more
//   take 4 ms, about as long as writing the tensor at 15 GB/s.

#include <torch/types.h>

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "fixtures/device/caching_allocator.h"
#include "fixtures/device/device_work.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

class Harness : public Fixture {
 public:
  struct Params {
    int64_t spin_us;  // 0: an empty call
  };

  static CaseName NameOf(const Params& p) {
    CaseName name("harness");
    if (p.spin_us == 0) return name.Word("work", "empty");
    return name.Word("work", "spin").Value("us", p.spin_us);
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    return p.spin_us == 0 && device.predicts_times
               ? "an empty call has no predicted time"
               : "";
  }

  Harness(const Params& p, const Device& device) : p_(p), device_(device) {}

  // There is no result to verify.
  absl::Status Check() override { return absl::OkStatus(); }

  void Run(State& state) override {
    for (auto _ : state) {
      if (p_.spin_us > 0) SpinFor(static_cast<double>(p_.spin_us), device_);
    }
  }

 private:
  Params p_;
  const Device& device_;
};

// Allocates, writes and frees a tensor, as a step does with each activation.
class Allocate : public Fixture {
 public:
  using Params = CpuAllocator;

  static constexpr int64_t kBytes = int64_t{64} << 20;

  Allocate(Params allocator, const Device&) : scope_(allocator) {}

  // There is no result to verify.
  absl::Status Check() override { return absl::OkStatus(); }

  void Run(State& state) override {
    for (auto _ : state) at::empty({kBytes}, at::kByte).fill_(1);
    state.SetBytesProcessed(kBytes);
  }

 private:
  const CpuAllocatorScope scope_;
};

TRAINBENCH_REGISTER(Harness, "harness")
    ->Options({.hold = true})
    ->Axis("us", &Harness::Params::spin_us, WholeNumbers{0, 1000 * 1000})
    ->Smoke("us=0,1000")
    ->Full("us=0,100,1000,10000")
    ->Expect("a spin is reported within 1 %", Time().Per("us").Of("us=1000"),
             About(1, 0.01))
    ->ExpectOnCpu("an empty call takes less than 2 us", Time().Of("work=empty"),
                  AtMost(2))
    ->ExpectOnGpu("an empty call takes less than 3 us", Time().Of("work=empty"),
                  AtMost(3));

TRAINBENCH_REGISTER(Allocate,
                    absl::StrCat("harness/work=allocate/allocator/size:",
                                 Allocate::kBytes))
    ->Options({.alone = true})
    ->Axis("allocator", std::identity(), CpuAllocatorName)
    ->OnCpu()
    ->Baseline("allocator", "system")
    ->Smoke("allocator=system,caching")
    ->ExpectOnCpu(
        "kept pages save 0.4 of the time to allocate and write 64 MiB",
        Time().Of("allocator=caching").Versus("allocator=system"), AtMost(0.6));

}  // namespace
}  // namespace trainbench
