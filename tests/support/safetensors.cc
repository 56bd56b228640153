// SPDX-License-Identifier: MIT

#include "tests/support/safetensors.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <vector>

#include "nlohmann/json.hpp"

// The format: eight bytes of header length, that many bytes of JSON
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//    "__metadata__": {"key": "text"}}
// and the data, to which the offsets are relative. All little-endian.

namespace trainbench {
namespace {

static_assert(std::endian::native == std::endian::little,
              "data is copied as it lies in the file");

// Reads the tensor described by `entry`; the data start at byte `data_start`.
at::Tensor ReadTensor(std::ifstream& file, const nlohmann::json& entry,
                      uint64_t data_start) {
  static const std::map<std::string, at::ScalarType> kDtypes = {
      {"F32", at::kFloat}, {"F64", at::kDouble}, {"I64", at::kLong}};
  const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
  const at::Tensor tensor =
      at::empty(entry.at("shape").get<std::vector<int64_t>>(),
                kDtypes.at(entry.at("dtype")));
  TORCH_CHECK(tensor.nbytes() == offsets.at(1) - offsets.at(0));
  file.seekg(static_cast<std::streamoff>(data_start + offsets[0]));
  file.read(static_cast<char*>(tensor.mutable_data_ptr()),
            static_cast<std::streamsize>(tensor.nbytes()));
  return tensor;
}

}  // namespace

std::map<std::string, at::Tensor> LoadSafetensors(
    const std::string& path, std::map<std::string, std::string>& metadata) {
  std::ifstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(path, std::ios::binary);
  uint64_t header_bytes = 0;
  file.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
  std::string header(header_bytes, '\0');
  file.read(header.data(), static_cast<std::streamsize>(header_bytes));

  std::map<std::string, at::Tensor> tensors;
  const auto entries = nlohmann::json::parse(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") {
      metadata = entry.get<std::map<std::string, std::string>>();
    } else {
      tensors[name] =
          ReadTensor(file, entry, sizeof(header_bytes) + header_bytes);
    }
  }
  return tensors;
}

}  // namespace trainbench
