// SPDX-License-Identifier: MIT
// The answer as JSON: bytes, microseconds, FLOPs.
//
//   query: model, batch, seq, precision, ..., links, device_tflops
//   device, free_bytes
//   overlap: a sentence that says what `computed` assumes to overlap
//   rows: [{mesh: {name, data, fsdp, tensor, ranks}, batch, checkpoint, fits,
//     why_not, predicted: {peak_bytes, peak_at, ..., collectives}, computed:
//     {...}, rehearsed: {...}}, ...]
// If the ranks cannot share the model, all is null except `mesh`, `fits` and
// `why_not`. If shards alone are too large, or a dry run fails, `predicted` and
// all after it are null. `rehearsed` is null unless the mesh was rehearsed.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_PRINT_JSON_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_PRINT_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/device/device.h"
#include "tools/planner/mesh/query.h"
#include "tools/planner/mesh/rows.h"

namespace trainbench {

std::string MeshDocument(const MeshQuery& query, const Device& device,
                         int64_t free_bytes, const std::vector<MeshRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_PRINT_JSON_H_
