// SPDX-License-Identifier: MIT

#include "tools/planner/query.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "model/spec/status_macros.h"
#include "tests/support/golden.h"

namespace trainbench {
namespace {

absl::StatusOr<Query> Read(absl::string_view flags) {
  Device h100;
  h100.kind = DeviceKind::kCuda;
  h100.name = "NVIDIA H100 80GB HBM3";
  h100.native_bf16 = true;
  FlagParser parser;
  PlannerFlags values;
  AddMeshFlags(values, parser);
  const std::vector<std::string> args =
      absl::StrSplit(flags, ' ', absl::SkipEmpty());
  RETURN_IF_ERROR(parser.Parse(args).status());
  return ReadMeshQuery(values, h100);
}

TEST(ReadMeshQueryTest, TheImplementationIsThatOfTheDefinitionOrOfTheFlag) {
  const auto found = [](absl::string_view flags) {
    const auto query = Read(absl::StrCat("--mesh=data:1 --seq=256 ", flags));
    EXPECT_TRUE(query.ok()) << flags << ": " << query.status();
    const ModelConfig model =
        query.ok() ? query->job.step.model : ModelConfig();
    return std::pair(model.implementation, model.attention);
  };
  const std::string nano =
      "--model=name=nano,d_model=64,d_ff=128,layers=1,heads=2";
  const std::pair textbook(Implementation::kTextbook, AttentionKind::kNaive);
  const std::pair fused(Implementation::kFused, AttentionKind::kOwn);
  EXPECT_EQ(found(nano), textbook);
  EXPECT_EQ(found(nano + ",implementation=fused"), fused);
  EXPECT_EQ(found(nano + " --implementation=fused"), fused);
  EXPECT_EQ(found("--model=tiny"), fused);
}

constexpr char kWrong[] = R"(
--mesh=pipe:2
--mesh=data:0
--mesh=data:-1
--mesh=data:1048577
--mesh=
--mesh=data:
--mesh=data:two
--mesh=fsdp:2,fsdp:2
--mesh=data:1048576,fsdp:1048576,tensor:1048576
--mesh=data:2,fsdp:2 --ranks=8
--mesh=auto
--mesh=auto --ranks=8,x
--mesh=tensor:3
--mesh=data:2 --global_batch=3
--mesh=data:2 --rank=2
--mesh=data:2 --precision=fp8
--mesh=data:2 --checkpoint=all
--mesh=data:2 --attention=best
--mesh=data:2 --nonsense=1
--mesh=data:2 --implementation=x
--mesh=data:2 --implementation=fused --model=name=a,d_model=64,implementation=fused
--mesh=data:2 --model=name=a,d_model=64,d_ff=64,heads=1,layers=1025
--mesh=data:2 --model=name=a,d_model=1048576,d_ff=1048576,heads=1,layers=128)";

TEST(ReadMeshQueryTest, SaysWhatIsWrongAsTheGoldenShows) {
  std::string printed;
  for (const absl::string_view flags :
       absl::StrSplit(kWrong, '\n', absl::SkipEmpty())) {
    const auto query = Read(flags);
    EXPECT_FALSE(query.ok()) << flags;
    absl::StrAppend(&printed, flags, "\n    ", query.status().message(), "\n");
  }
  ExpectGolden("mesh_errors.txt", printed);
}

}  // namespace
}  // namespace trainbench
