// SPDX-License-Identifier: MIT

#include "model/dry_run/dry_run.h"

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/memory/allocation_recorder.h"
#include "model/dry_run/operators.h"
#include "tests/model/c10_error.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr int64_t kHuge = int64_t{1} << 50;

TEST(DryRunTest, TensorsTakeNoMemory) {
  const DryRun dry;
  const at::Tensor x = at::zeros({kHuge});
  EXPECT_EQ((x + x).sizes(), x.sizes());
}

TEST(DryRunTest, EndsWithItsScope) {
  EXPECT_FALSE(DryRun::IsOn());
  {
    const DryRun outer;
    { const DryRun inner; }
    EXPECT_TRUE(DryRun::IsOn());
  }
  EXPECT_FALSE(DryRun::IsOn());
  EXPECT_EQ(at::ones({3}).sum().item<float>(), 3);
}

TEST(DryRunTest, OlderTensorsKeepTheirValues) {
  const at::Tensor older = at::ones({3});
  const DryRun dry;
  EXPECT_EQ(older.sum().item<float>(), 3);
  older.add_(at::ones({3}));  // adds a dry tensor
  EXPECT_EQ(older.sum().item<float>(), 3);
}

TEST(DryRunTest, ReportsBirthsAndDeathsOfStorages) {
  AllocationRecorder recorder(c10::kCPU);
  at::Tensor view;
  const AllocationTimeline made = recorder.Record([&](PhaseObserver&) {
    const DryRun dry;
    view = at::empty({10, 10}).t().slice(0, 2, 4);
    EXPECT_EQ(recorder.LiveBytes(), 400);
    at::empty({1000});
  });
  EXPECT_EQ(made.live_after, 400);
  EXPECT_EQ(made.peak_bytes, 4400);
  recorder.Observe([&] { view.reset(); });
  EXPECT_EQ(recorder.LiveBytes(), 0);
}

TEST(DryRunTest, AResizedStorageIsANewOne) {
  AllocationRecorder recorder(c10::kCPU);
  recorder.Observe([&] {
    const DryRun dry;
    at::Tensor result = at::empty({0});
    at::mm_out(result, at::empty({3, 4}), at::empty({4, 5}));
    EXPECT_THAT(result.sizes(), ElementsAre(3, 5));
    EXPECT_EQ(recorder.LiveBytes(), 60);
  });
}

using Sums = std::vector<std::pair<std::string, double>>;

// Lists the operators for which `of` is positive.
Sums SumsOf(const std::function<void()>& work,
            double DryOperator::*of = &DryOperator::flops) {
  Sums all;
  const DryRun dry([&](const DryOperator& op) {
    if (op.*of > 0) all.emplace_back(op.name, op.*of);
  });
  work();
  return all;
}

TEST(DryRunTest, ReportsTheProducts) {
  EXPECT_THAT(SumsOf([] {
                const at::Tensor x = at::empty({3, 4});
                const at::Tensor y = x.mm(at::empty({4, 5})).exp();
                y.view({1, 3, 5}).bmm(at::empty({1, 5, 2}));
              }),
              ElementsAre(Pair("aten::mm", 120), Pair("aten::bmm", 60)));
}

TEST(DryRunTest, ReportsTheBytesThatOperatorsReadAndWrite) {
  const auto moved = [](const std::function<void()>& work) {
    return SumsOf(work, &DryOperator::bytes);
  };
  EXPECT_THAT(moved([] {
                const at::Tensor x = at::empty({3, 4});
                const at::Tensor y = x.mm(at::empty({4, 5}));  // 48, 80, 60
                y.view({15}).t();
                at::empty({5}).expand({3, 5}).exp();  // only 20 are stored
              }),
              ElementsAre(Pair("aten::mm", 188), Pair("aten::exp", 80)));
  // Overwritten tensors are not read; indexed tensors are read in part.
  EXPECT_THAT(
      moved([] {
        at::Tensor x = at::empty({10});
        x.add_(1);
        x.zero_();
        x.copy_(at::empty({10}, at::kBFloat16));
        at::index_select(at::empty({1000, 2}), 0, at::empty({3}, at::kLong));
      }),
      ElementsAre(Pair("aten::add_", 80), Pair("aten::zero_", 40),
                  Pair("aten::copy_", 60),
                  Pair("aten::index_select", 24 + 24 + 24)));
}

// The most bytes that are alive at once.
int64_t PeakOf(const std::function<void()>& work) {
  AllocationRecorder recorder(c10::kCPU);
  return recorder.Record([&](PhaseObserver&) { work(); }).peak_bytes;
}

TEST(DryRunTest, AMeanTakesTheMemoryOfARealOne) {
  using Type = std::optional<at::ScalarType>;
  for (const auto from : {at::kFloat, at::kBFloat16}) {
    for (const Type to : {Type(), Type(at::kFloat)}) {
      for (const at::OptionalIntArrayRef dims :
           {at::OptionalIntArrayRef(), at::OptionalIntArrayRef(1)}) {
        const auto work = [&] {
          at::mean(at::ones({64, 32}, from), dims, /*keepdim=*/true, to);
        };
        const int64_t real = PeakOf(work);
        const int64_t dry = PeakOf([&] {
          const DryRun run;
          work();
        });
        EXPECT_EQ(dry, real) << from << " to " << to.value_or(from) << ", "
                             << (dims ? "rows" : "all");
      }
    }
  }
}

// By LibTorch's setReduceConfig, transcribed, for an H100.
TEST(DryRunTest, ASumOverManyRowsNeedsScratch) {
  const dry::GpuSize h100 = {.multiprocessors = 132, .threads = 2048};
  EXPECT_EQ(dry::SumOfRowsBytes(1020, 768, h100), 0);
  EXPECT_EQ(dry::SumOfRowsBytes(1021, 768, h100), 6'291'480);
  EXPECT_EQ(dry::SumOfRowsBytes(4096, 37, h100), 75'784);
}

TEST(DryRunTest, AKernelRecordsItsWorkInTheInnermostRun) {
  Sums inner;
  const Sums outer = SumsOf([&] {
    inner = SumsOf([] { DryRun::Record({"mine", 2}); });
  });
  EXPECT_THAT(outer, ElementsAre());
  EXPECT_THAT(inner, ElementsAre(Pair("mine", 2)));
}

TEST(DryRunTest, WhoMayReadReadsZeroTrueAndEqual) {
  const DryRun dry;
  const DryReads reads;
  const at::Tensor x = at::ones({3});
  EXPECT_EQ(x.sum().item<float>(), 0);
  EXPECT_EQ(x.to(at::kLong).max().item<int64_t>(), 0);
  EXPECT_TRUE(x.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(x, x + 1));
}

TEST(DryRunTest, SaysWhatItCannotDo) {
  const auto error_of = [](const std::function<void()>& work) {
    const DryRun dry;
    return ErrorOf(work);
  };
  EXPECT_THAT(error_of([] { at::ones({}).item<float>(); }),
              HasSubstr("item() reads one of a Float tensor"));
  EXPECT_THAT(error_of([] { at::equal(at::ones({}), at::ones({})); }),
              HasSubstr("equal() compares them"));
  EXPECT_THAT(error_of([] { at::nonzero(at::ones({3})); }),
              HasSubstr("aten::nonzero"));
  EXPECT_THAT(error_of([] { at::empty({3}, at::device(c10::kXPU)); }),
              HasSubstr("no device xpu"));
}

}  // namespace
}  // namespace trainbench
