// SPDX-License-Identifier: MIT

#include "fixtures/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::ElementsAre;

struct Size {
  int64_t bytes;
};

// Remembers what it was built with.
class Copy : public Workload {
 public:
  using Params = Size;
  Copy(const Params& params, const Device& device)
      : bytes(params.bytes), device_name(device.name) {}
  static std::vector<Params> Sweep(const RunOptions& options, const Device&) {
    return {{512}, {options.batch.value_or(64)}, {128}};
  }
  static CaseName NameOf(const Params& p) {
    return CaseName("copy").Value("bytes", p.bytes);
  }
  static Cost CostOf(const Params& p, const Device& device) {
    return {.bytes = 2.0 * static_cast<double>(p.bytes),
            .params = device.cores};
  }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}

  int64_t bytes;
  std::string device_name;
};

// Has every optional member.
class AllReduce final : public Copy {
 public:
  using Copy::Copy;
  static Protocol ProtocolOf(const Params& p) {
    return {.timed_phase = Phase::kBackward, .fresh_process = p.bytes == 2};
  }
  static std::optional<Params> BaselineOf(const Params& p) {
    if (p.bytes == 1) return std::nullopt;
    return Params{1};
  }
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{1}, {2}};
  }
  static CaseName NameOf(const Params& p) {
    return CaseName("all_reduce").Value("bytes", p.bytes);
  }
  static std::string Unavailable(const Params& p, const Device& device) {
    return p.bytes == 2 ? "not on " + device.name : "";
  }
};

class Zenith final : public Copy {
 public:
  using Copy::Copy;
  static constexpr bool kIsPeak = true;
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{5}};
  }
  static CaseName NameOf(const Params& p) {
    return CaseName("zenith").Value("bytes", p.bytes);
  }
};

// The other order than that of their names.
const bool kRegistered =
    Register<Copy>() && Register<AllReduce>() && Register<Zenith>();

struct NoCost final : Workload {
  using Params = Size;
  NoCost(const Params&, const Device&) {}
  static std::vector<Params> Sweep(const RunOptions&, const Device&);
  static CaseName NameOf(const Params&);
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

struct SweepOfOtherParams final : Copy {
  using Copy::Copy;
  static std::vector<int> Sweep(const RunOptions&, const Device&);
};

struct NameIsText final : Copy {
  using Copy::Copy;
  static std::string NameOf(const Params&);
};

struct NoConstructor final : Copy {
  NoConstructor() : Copy({1}, Device()) {}
};

struct NoParams final : Workload {
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

// Has every member, but is no Workload.
struct NoWorkload {
  using Params = Size;
  NoWorkload(const Params&, const Device&) {}
  static std::vector<Params> Sweep(const RunOptions&, const Device&);
  static CaseName NameOf(const Params&);
  static Cost CostOf(const Params&, const Device&);
};

static_assert(Fixture<Copy>);
static_assert(Fixture<AllReduce>, "Unavailable is optional");
static_assert(!Fixture<NoCost>);
static_assert(!Fixture<SweepOfOtherParams>);
static_assert(!Fixture<NameIsText>);
static_assert(!Fixture<NoConstructor>);
static_assert(!Fixture<NoParams>);
static_assert(!Fixture<NoWorkload>);

class ExperimentTest : public testing::Test {
 protected:
  ExperimentTest() {
    device_.name = "here";
    device_.cores = 3;
  }
  std::vector<Case> List() const { return ListCases(options_, device_); }

  RunOptions options_;
  Device device_;
};

TEST_F(ExperimentTest, PeaksFirstThenByExperimentAndEachInItsOwnOrder) {
  ASSERT_TRUE(kRegistered);
  std::vector<std::string> names;
  for (const Case& one : List()) names.push_back(one.name.text());
  EXPECT_THAT(names, ElementsAre("zenith/bytes:5", "all_reduce/bytes:1",
                                 "all_reduce/bytes:2", "copy/bytes:512",
                                 "copy/bytes:64", "copy/bytes:128"));
}

TEST_F(ExperimentTest, TheSweepSeesTheOptions) {
  options_.batch = 9;
  EXPECT_EQ(List()[4].name.text(), "copy/bytes:9");
}

TEST_F(ExperimentTest, OnlyWhatIsUnavailableHasAReason) {
  std::vector<std::string> reasons;
  for (const Case& one : List()) reasons.push_back(one.unavailable);
  EXPECT_THAT(reasons, ElementsAre("", "", "not on here", "", "", ""));
}

TEST_F(ExperimentTest, TheCostIsThatOfTheParametersAndTheDevice) {
  const Cost cost = List()[3].cost;
  EXPECT_EQ(cost.bytes, 1024);
  EXPECT_EQ(cost.params, 3);
}

TEST_F(ExperimentTest, OptionalMembersReachTheCase) {
  const std::vector<Case> cases = List();
  EXPECT_TRUE(cases[0].is_peak);
  EXPECT_FALSE(cases[1].is_peak);
  EXPECT_EQ(cases[1].baseline, "");
  EXPECT_EQ(cases[2].baseline, "all_reduce/bytes:1");
  EXPECT_EQ(cases[2].protocol.timed_phase, Phase::kBackward);
  EXPECT_FALSE(cases[1].protocol.fresh_process);
  EXPECT_TRUE(cases[2].protocol.fresh_process);
  EXPECT_FALSE(cases[3].protocol.timed_phase.has_value());
}

TEST_F(ExperimentTest, EachCaseBuildsItsOwnParameters) {
  std::vector<int64_t> sizes;
  for (const Case& one : List()) {
    const std::unique_ptr<Workload> workload = one.build();
    const auto& copy = dynamic_cast<const Copy&>(*workload);
    sizes.push_back(copy.bytes);
    EXPECT_EQ(copy.device_name, "here");
  }
  EXPECT_THAT(sizes, ElementsAre(5, 1, 2, 512, 64, 128));
}

}  // namespace
}  // namespace trainbench
