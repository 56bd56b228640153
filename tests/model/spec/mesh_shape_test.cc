// SPDX-License-Identifier: MIT

#include "model/spec/parallel/mesh_shape.h"

#include <set>
#include <string>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

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
