// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "tests/support/fake_group.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// Returns the case with a buffer of `bytes`.
Case CaseOf(int64_t bytes, const Device& device) {
  RunOptions options;
  options.suite = Suite::kSmoke;
  options.axes["bytes"] = {absl::StrCat(bytes)};
  for (Case& bench_case : ListCases(options, device)) {
    if (ExperimentOf(bench_case) == "all_reduce") return std::move(bench_case);
  }
  return {.name = CaseName("none")};
}

class AllReduceTest : public testing::Test {
 protected:
  std::unique_ptr<Fixture> Build(int64_t bytes, ProcessGroup& group) const {
    return CaseOf(bytes, device_).build_rank(group);
  }
  const Device device_ = *OpenDevice("cpu");
};

// Multiplies by `factor`, as if ranks had added their values.
class MultiplyingGroup final : public FakeGroup {
 public:
  explicit MultiplyingGroup(int size) : FakeGroup(/*rank=*/0, size) {}
  Collective StartAllReduce(const at::Tensor& tensor) override {
    tensor.narrow(0, 0, tensor.numel() - untouched).mul_(factor);
    return FakeGroup::StartAllReduce(tensor);
  }
  double factor = 1;
  int64_t untouched = 0;  // elements at the end
};

TEST_F(AllReduceTest, AWrongSumIsNamedWithItsFirstElement) {
  FakeGroup group(/*rank=*/0, /*size=*/2);
  // One element is enough.
  EXPECT_EQ(std::string(Build(4, group)->Check().message()),
            "the sum over 2 ranks is 1 instead of 3 at element 0");
}

TEST_F(AllReduceTest, ValuesStayFiniteAndRandom) {
  MultiplyingGroup group(/*size=*/6);
  const auto work = Build(4096, group);
  group.factor = 6;  // all ranks have the same values
  for (int i = 0; i < 1000; ++i) {
    work->Prepare();
    work->Call(NoObserver());
  }
  group.factor = 21;  // rank r has r + 1 times rank 0's values
  EXPECT_EQ(work->CheckOutput(), absl::OkStatus());
  group.factor = 6;
  for (int i = 0; i < 100; ++i) work->Call(NoObserver());
  group.factor = 21;
  EXPECT_EQ(std::string(work->CheckOutput().message()),
            "the buffer has values that are not finite");
}

// A check leaves random values, even if the ranks computed a wrong sum.
TEST_F(AllReduceTest, TheCheckIsRepeated) {
  MultiplyingGroup group(/*size=*/2);
  const auto work = Build(4096, group);
  EXPECT_THAT(std::string(work->Check().message()), StartsWith("the sum over"));
  group.factor = 3;
  EXPECT_EQ(work->CheckOutput(), absl::OkStatus());
  EXPECT_EQ(group.calls(), 2);
}

// Adds the values of all ranks before it, so that the last one has the sum.
class AddingGroup final : public FakeGroup {
 public:
  AddingGroup(int rank, int size, at::Tensor sum)
      : FakeGroup(rank, size), sum_(std::move(sum)) {}
  Collective StartAllReduce(const at::Tensor& tensor) override {
    tensor.copy_(sum_.add_(tensor));
    return FakeGroup::StartAllReduce(tensor);
  }

 private:
  at::Tensor sum_;
};

TEST_F(AllReduceTest, TheSumIsExactForAnyNumberOfRanks) {
  constexpr int64_t kElements = 1021;
  const Case all_reduce = CaseOf(4 * kElements, device_);
  for (const int ranks : {180, 181, 182, 4096}) {
    const at::Tensor sum = at::zeros({kElements});
    absl::Status status;
    for (int rank = 0; rank < ranks; ++rank) {
      AddingGroup group(rank, ranks, sum);
      status = all_reduce.build_rank(group)->Check();
    }
    EXPECT_EQ(status, absl::OkStatus()) << ranks;
  }
}

TEST_F(AllReduceTest, OneRanksSumIsItsOwnValues) {
  FakeGroup group(/*rank=*/0, /*size=*/1);
  EXPECT_EQ(Build(64, group)->Check(), absl::OkStatus());
  EXPECT_EQ(group.calls(), 1);
}

// Larger than the part compared at a time; the last part is not full.
TEST_F(AllReduceTest, EveryPartIsFilledAndCompared) {
  constexpr int64_t kElements = (int64_t{9} << 20) + 3;
  MultiplyingGroup group(/*size=*/2);
  group.factor = 3;
  const auto work = Build(4 * kElements, group);
  EXPECT_EQ(work->Check(), absl::OkStatus());
  group.untouched = 1;
  const int64_t last = kElements - 1, value = last % 1021 + 1;
  EXPECT_EQ(std::string(work->Check().message()),
            absl::StrCat("the sum over 2 ranks is ", value, " instead of ",
                         3 * value, " at element ", last));
}

}  // namespace
}  // namespace trainbench
