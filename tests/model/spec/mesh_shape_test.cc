// SPDX-License-Identifier: MIT

#include "model/spec/parallel/mesh_shape.h"

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

TEST(MeshShapeTest, AnAxisHasASize) {
  const MeshShape mesh = {4, 16, 8};
  EXPECT_EQ(mesh.Size(MeshAxis::kData), 4);
  EXPECT_EQ(mesh.Size(MeshAxis::kFsdp), 16);
  EXPECT_EQ(mesh.Size(MeshAxis::kTensor), 8);
}

}  // namespace
}  // namespace trainbench
