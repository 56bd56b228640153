// SPDX-License-Identifier: MIT
// Dry runs of the experiments' cases against real ones.

#include "fixtures/runner/prediction.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <memory>

#include "fixtures/experiment/experiment.h"
#include "fixtures/memory/memory_probe.h"

namespace trainbench {
namespace {

int64_t MeasuredPeak(const Case& bench_case) {
  const auto probe = MakeMemoryProbe(at::kCPU);
  std::unique_ptr<Workload> workload;
  NullObserver nobody;
  const auto call = [&] {
    workload->Prepare();
    workload->Run(nobody);
  };
  probe->Observe([&] {
    workload = bench_case.build();
    call();
  });
  return probe->MeasurePeak(call).allocated + workload->UncountedBytes();
}

TEST(PredictionTest, OfEachSmokeCaseIsWhatItTakes) {
  at::set_num_threads(1);
  const Device device = *OpenDevice("cpu");
  for (const Case& bench_case : ListCases({}, device)) {
    const bool runs_here = bench_case.build && bench_case.unavailable.empty();
    if (!runs_here) continue;
    const auto prediction = Predict(bench_case, device);
    const std::string name = bench_case.name.text();
    EXPECT_TRUE(prediction.ok()) << name << ": " << prediction.status();
    if (!prediction.ok()) continue;
    EXPECT_EQ(prediction->peak_bytes, MeasuredPeak(bench_case)) << name;
  }
}

}  // namespace
}  // namespace trainbench
