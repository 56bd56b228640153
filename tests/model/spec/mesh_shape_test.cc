// SPDX-License-Identifier: MIT

#include "model/spec/parallel/mesh_shape.h"

#include <set>
#include <string>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

std::string WhyNot(const char* text) {
  return std::string(ParseMesh(text).status().message());
}

TEST(MeshShapeTest, IsWhatItsNameSays) {
  const MeshShape mesh = ParseMesh("data:4,fsdp:16,tensor:8").value();
  EXPECT_EQ(mesh, (MeshShape{4, 16, 8}));
  EXPECT_EQ(mesh.ranks(), 512);
  EXPECT_EQ(mesh.batches(), 64);
  EXPECT_EQ(ParseMesh(MeshName(mesh)).value(), mesh);
}

TEST(MeshShapeTest, AxesMayBeLeftOutAndComeInAnyOrder) {
  EXPECT_EQ(ParseMesh("tensor:2").value(), (MeshShape{1, 1, 2}));
  EXPECT_EQ(ParseMesh("fsdp:3,data:2").value(), (MeshShape{2, 3, 1}));
}

TEST(MeshShapeTest, AnAxisHasASize) {
  const MeshShape mesh = {4, 16, 8};
  EXPECT_EQ(mesh.Size(MeshAxis::kData), 4);
  EXPECT_EQ(mesh.Size(MeshAxis::kFsdp), 16);
  EXPECT_EQ(mesh.Size(MeshAxis::kTensor), 8);
}

TEST(MeshShapeTest, ErrorsNameTheValueAndWhatIsAllowed) {
  EXPECT_EQ(WhyNot("pipe:2"),
            "an axis of the mesh is 'pipe'; allowed: data, fsdp, tensor");
  EXPECT_THAT(WhyNot(""), HasSubstr("is ''; allowed: data, fsdp, tensor"));
  EXPECT_EQ(WhyNot("fsdp:2,fsdp:2"),
            "mesh is 'fsdp:2,fsdp:2'; allowed: each axis once");
  for (const char* size : {"", "0", "-1", "two", "1048577"}) {
    EXPECT_EQ(WhyNot((std::string("data:") + size).c_str()),
              std::string("mesh: data is '") + size +
                  "'; allowed: 1 to 1048576 ranks");
  }
  EXPECT_THAT(WhyNot("data:1048576,fsdp:1048576,tensor:1048576"),
              HasSubstr("is 1152921504606846976; allowed: 1 to 1048576"));
}

TEST(MeshesOfTest, AreAllOfThemOnce) {
  std::set<std::string> names;
  for (const MeshShape& mesh : MeshesOf(12)) {
    EXPECT_EQ(mesh.ranks(), 12);
    names.insert(MeshName(mesh));
  }
  // 12 = 2^2 3: six ways to place the twos on three axes, three for the 3.
  EXPECT_EQ(names.size(), 18);
  EXPECT_EQ(MeshesOf(12).size(), 18);
  EXPECT_EQ(MeshesOf(1).size(), 1);
}

}  // namespace
}  // namespace trainbench
