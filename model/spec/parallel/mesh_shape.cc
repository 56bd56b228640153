// SPDX-License-Identifier: MIT

#include "model/spec/parallel/mesh_shape.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/spec/not_allowed.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

// In the order of MeshAxis.
constexpr int64_t MeshShape::*kSizes[] = {&MeshShape::data, &MeshShape::fsdp,
                                          &MeshShape::tensor};

}  // namespace

int64_t MeshShape::Size(MeshAxis axis) const {
  return this->*kSizes[static_cast<std::size_t>(axis)];
}

std::string MeshName(const MeshShape& mesh) {
  return absl::StrCat("data:", mesh.data, ",fsdp:", mesh.fsdp,
                      ",tensor:", mesh.tensor);
}

absl::StatusOr<MeshShape> ParseMesh(absl::string_view text) {
  MeshShape mesh;
  std::set<MeshAxis> seen;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(item, absl::MaxSplits(':', 1));
    ASSIGN_OR_RETURN(const auto axis,
                     MeshAxisName.Parse("an axis of the mesh", pair.first));
    if (!seen.insert(axis).second) {
      return TextNotAllowed("mesh", text, "each axis once");
    }
    int64_t& size = mesh.*kSizes[static_cast<std::size_t>(axis)];
    if (!absl::SimpleAtoi(pair.second, &size) || size < 1 ||
        size > kMostMeshRanks) {
      return TextNotAllowed(absl::StrCat("mesh: ", pair.first), pair.second,
                            absl::StrCat("1 to ", kMostMeshRanks, " ranks"));
    }
  }
  // Three sizes of at most 2^20 have a product of at most 2^60.
  if (mesh.ranks() > kMostMeshRanks) {
    return NotAllowed("the number of ranks of the mesh", mesh.ranks(),
                      absl::StrCat("1 to ", kMostMeshRanks));
  }
  return mesh;
}

std::vector<MeshShape> MeshesOf(int64_t ranks) {
  std::vector<MeshShape> meshes;
  for (int64_t tensor = 1; tensor <= ranks; ++tensor) {
    if (ranks % tensor != 0) continue;
    const int64_t rest = ranks / tensor;
    for (int64_t fsdp = 1; fsdp <= rest; ++fsdp) {
      if (rest % fsdp == 0) meshes.push_back({rest / fsdp, fsdp, tensor});
    }
  }
  return meshes;
}

}  // namespace trainbench
