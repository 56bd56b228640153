// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_json.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tools/planner/parallel_units.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

// Whole numbers without ".0" where a double holds every one of them.
Json Number(double value) {
  if (value == std::floor(value) && value < 0x1p53) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json QueryJson(const ParallelFlags& flags) {
  return {{"tokens", flags.tokens},
          {"d_model", flags.d_model},
          {"d_ff", flags.d_ff},
          {"ffn_matrices", flags.ffn_matrices},
          {"blocks", flags.blocks},
          {"state_bytes_per_param", Number(flags.state_bytes_per_param)},
          {"value_bytes", Number(flags.value_bytes)},
          {"device_tflops", Number(flags.device_tflops)},
          {"link_gb_per_s", Number(flags.link_gb_per_s)},
          {"fsdp_ranks", flags.fsdp_ranks},
          {"tensor_ranks", flags.tensor_ranks},
          {"fsdp_axes", flags.fsdp_axes},
          {"tensor_axes", flags.tensor_axes},
          {"gpu_gb", Number(flags.gpu_gb)},
          {"fsdp_device_gb", Number(flags.fsdp_device_gb)},
          {"saved_tokens", flags.saved_tokens},
          {"ranks", flags.ranks},
          {"gradient_gb", Number(flags.gradient_gb)},
          {"links", flags.links}};
}

// What is indented in the table stands alone here.
std::string WithoutIndent(const std::string& what) {
  return what.substr(what.find_first_not_of(' '));
}

Json RowJson(const ParallelGroup& group, const ParallelRow& row) {
  Json json = {{"group", group.name},
               {"name", row.name},
               {"what", WithoutIndent(row.what)},
               {"formula", row.formula},
               {"value", nullptr},
               {"unit", std::string(UnitName(row.unit))}};
  if (row.value) {
    json["value"] = Number(*row.value);
  } else {
    json["reason"] = row.what_not;
  }
  return json;
}

}  // namespace

std::string ParallelJson(const ParallelFlags& flags,
                         const std::vector<ParallelGroup>& groups) {
  Json rows = Json::array();
  for (const ParallelGroup& group : groups) {
    for (const ParallelRow& row : group.rows) {
      rows.push_back(RowJson(group, row));
    }
  }
  const Json json = {{"query", QueryJson(flags)}, {"rows", rows}};
  return json.dump(2) + "\n";
}

}  // namespace trainbench
