// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "model/distributed/comm/fake_backend.h"
#include "model/distributed/comm/process_group.h"
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

// Changes a tensor instead of adding the other ranks' values.
class ChangingBackend final : public FakeBackend {
 public:
  using Change = std::function<void(const at::Tensor& tensor)>;
  ChangingBackend(const GroupOptions& options, Change change)
      : FakeBackend(options.rank, options.size), change_(std::move(change)) {}
  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& options) override {
    change_(tensors.front());
    return FakeBackend::allreduce(tensors, options);
  }

 private:
  Change change_;
};

std::unique_ptr<ProcessGroup> ChangingGroup(
    const ChangingBackend::Change& change, const GroupOptions& options) {
  return ProcessGroup::Over(
      [change](const auto&, const GroupOptions& of) {
        return c10::make_intrusive<ChangingBackend>(of, change);
      },
      options);
}

TEST_F(AllReduceTest, AWrongSumIsNamedWithItsFirstElement) {
  const auto group = ProcessGroup::Fake({.size = 2});
  // One element is enough.
  EXPECT_EQ(std::string(Build(4, *group)->Check().message()),
            "the sum over 2 ranks is 1 instead of 3 at element 0");
}

TEST_F(AllReduceTest, ValuesStayFiniteAndRandom) {
  double factor = 6;  // all ranks have the same values
  const auto group = ChangingGroup(
      [&](const at::Tensor& tensor) { tensor.mul_(factor); }, {.size = 6});
  const auto work = Build(4096, *group);
  for (int i = 0; i < 1000; ++i) {
    work->Prepare();
    work->Call(NoObserver());
  }
  factor = 21;  // rank r has r + 1 times rank 0's values
  EXPECT_EQ(work->CheckOutput(), absl::OkStatus());
  factor = 6;
  for (int i = 0; i < 100; ++i) work->Call(NoObserver());
  factor = 21;
  EXPECT_EQ(std::string(work->CheckOutput().message()),
            "the buffer has values that are not finite");
}

// A check leaves random values, even if the ranks computed a wrong sum.
TEST_F(AllReduceTest, TheCheckIsRepeated) {
  double factor = 1;
  const auto group = ChangingGroup(
      [&](const at::Tensor& tensor) { tensor.mul_(factor); }, {.size = 2});
  const CollectiveRecorder recorder(*group);
  const auto work = Build(4096, *group);
  EXPECT_THAT(std::string(work->Check().message()), StartsWith("the sum over"));
  factor = 3;
  EXPECT_EQ(work->CheckOutput(), absl::OkStatus());
  EXPECT_THAT(recorder.calls(), SizeIs(2));
}

// A rank gets the sum of the ranks up to itself; the last one gets the sum.
TEST_F(AllReduceTest, TheSumIsExactForAnyNumberOfRanks) {
  constexpr int64_t kElements = 1021;
  const Case all_reduce = CaseOf(4 * kElements, device_);
  for (const int ranks : {180, 181, 182, 4096}) {
    const at::Tensor sum = at::zeros({kElements});
    absl::Status status;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto group = ChangingGroup(
          [&](const at::Tensor& tensor) { tensor.copy_(sum.add_(tensor)); },
          {.rank = rank, .size = ranks});
      status = all_reduce.build_rank(*group)->Check();
    }
    EXPECT_EQ(status, absl::OkStatus()) << ranks;
  }
}

TEST_F(AllReduceTest, OneRanksSumIsItsOwnValues) {
  const auto group = ProcessGroup::Fake({});
  const CollectiveRecorder recorder(*group);
  EXPECT_EQ(Build(64, *group)->Check(), absl::OkStatus());
  EXPECT_THAT(recorder.calls(), SizeIs(1));
}

// Larger than the part compared at a time; the last part is not full.
TEST_F(AllReduceTest, EveryPartIsFilledAndCompared) {
  constexpr int64_t kElements = (int64_t{9} << 20) + 3;
  int64_t untouched = 0;  // elements at the end
  const auto group = ChangingGroup(
      [&](const at::Tensor& tensor) {
        tensor.narrow(0, 0, kElements - untouched).mul_(3);
      },
      {.size = 2});
  const auto work = Build(4 * kElements, *group);
  EXPECT_EQ(work->Check(), absl::OkStatus());
  untouched = 1;
  const int64_t last = kElements - 1, value = last % 1021 + 1;
  EXPECT_EQ(std::string(work->Check().message()),
            absl::StrCat("the sum over 2 ranks is ", value, " instead of ",
                         3 * value, " at element ", last));
}

}  // namespace
}  // namespace trainbench
