// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/mesh.h"

#include <c10/util/Exception.h>

#include <string>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

ProcessGroup* Part(ProcessGroup& group, const std::vector<int>& colors) {
  const auto part = group.Split(colors);
  TORCH_CHECK_WITH(DistNetworkError, part.ok(),
                   std::string(part.status().message()));
  return *part;
}

}  // namespace

MeshGroups SplitMesh(ProcessGroup& group, int tensor) {
  TORCH_CHECK(tensor >= 1 && group.size() % tensor == 0, "a mesh of ",
              group.size(), " ranks has ", tensor,
              " tensor ranks; allowed: a divisor of the ranks");
  std::vector<int> of_tensor, of_data;
  for (int rank = 0; rank < group.size(); ++rank) {
    of_tensor.push_back(rank / tensor);
    of_data.push_back(rank % tensor);
  }
  return {.tensor = Part(group, of_tensor), .data = Part(group, of_data)};
}

}  // namespace trainbench
