// SPDX-License-Identifier: MIT
// The same work has the same name, whatever the flags are.

#include <map>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

using Axes = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> NamesOf(const std::string& experiment,
                                 const Axes& axes) {
  RunOptions options;
  options.suite = Suite::kSmoke;
  options.axes = axes;
  std::vector<std::string> names;
  for (const std::string& name : ListNames(options, Device())) {
    if (ExperimentOf(name) == experiment) names.push_back(name);
  }
  return names;
}

TEST(CaseNamesTest, ReplicasGatherNothing) {
  const std::string rest = "/tiny/fp32/reshard:0/prefetch:0/ranks:2/";
  EXPECT_THAT(NamesOf("fsdp", {{"sharded", {"nothing", "optimizer"}},
                               {"reshard", {"0", "1"}},
                               {"prefetch", {"0", "1"}}}),
              ElementsAre("fsdp/nothing" + rest + "batch:1/seq:32",
                          "fsdp/optimizer" + rest + "batch:1/seq:32"));
}

TEST(CaseNamesTest, ASegmentHasAllBlocksAtMost) {
  const std::string rest = "/tiny/fp32/train_step/batch:2/seq:32";
  EXPECT_THAT(
      NamesOf("checkpointing", {{"checkpoint", {"every_4", "every_9"}}}),
      ElementsAre("checkpointing/every_4" + rest));
  EXPECT_THAT(NamesOf("checkpointing", {{"checkpoint", {"every_9"}}}),
              ElementsAre("checkpointing/every_4" + rest));
}

}  // namespace
}  // namespace trainbench
