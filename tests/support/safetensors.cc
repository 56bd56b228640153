// SPDX-License-Identifier: MIT

#include "tests/support/safetensors.h"

#include <ATen/ops/empty.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>
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

constexpr uint64_t kPrefixBytes = 8;

[[noreturn]] void Fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error(path + ": " + reason);
}

at::ScalarType ParseDtype(const std::string& name) {
  if (name == "F32") return at::kFloat;
  if (name == "F64") return at::kDouble;
  if (name == "I64") return at::kLong;
  throw std::runtime_error("dtype " + name + " is not supported");
}

// Rejects a shape that overflows or that needs more memory than the file can
// fill.
void CheckShape(const std::vector<int64_t>& shape, uint64_t data_bytes) {
  uint64_t numel = 1;
  for (int64_t size : shape) {
    if (size < 0) throw std::runtime_error("negative size in shape");
    if (size == 0) return;
    if (static_cast<uint64_t>(size) > data_bytes / numel) {
      throw std::runtime_error("shape is larger than the data");
    }
    numel *= static_cast<uint64_t>(size);
  }
}

// Reads the tensor described by `entry` from a file with `data_bytes` bytes of
// data that start at byte `data_start`.
at::Tensor ReadTensor(std::ifstream& file, const nlohmann::json& entry,
                      uint64_t data_start, uint64_t data_bytes) {
  const auto shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] ||
      offsets[1] > data_bytes) {
    throw std::runtime_error("data_offsets lie outside the file");
  }
  CheckShape(shape, data_bytes);
  at::Tensor tensor =
      at::empty(shape, ParseDtype(entry.at("dtype").get<std::string>()));
  if (tensor.nbytes() != offsets[1] - offsets[0]) {
    throw std::runtime_error("data_offsets do not match shape and dtype");
  }
  file.seekg(static_cast<std::streamoff>(data_start + offsets[0]));
  file.read(static_cast<char*>(tensor.mutable_data_ptr()),
            static_cast<std::streamsize>(tensor.nbytes()));
  if (!file) throw std::runtime_error("read failed");
  return tensor;
}

}  // namespace

std::map<std::string, at::Tensor> LoadSafetensors(
    const std::string& path, std::map<std::string, std::string>* metadata) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (!file || error) Fail(path, "cannot be opened");

  uint64_t header_bytes = 0;
  if (!file.read(reinterpret_cast<char*>(&header_bytes), kPrefixBytes)) {
    Fail(path, "truncated: no header length");
  }
  if (header_bytes > file_bytes - kPrefixBytes) {
    Fail(path, "truncated: the header is longer than the file");
  }
  std::string text(header_bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(header_bytes))) {
    Fail(path, "truncated: read failed in the header");
  }

  const uint64_t data_start = kPrefixBytes + header_bytes;
  std::map<std::string, at::Tensor> tensors;
  std::string name;  // the entry being read
  try {
    const auto header = nlohmann::json::parse(text);
    for (const auto& item : header.items()) {
      name = item.key();
      if (name != "__metadata__") {
        tensors[name] =
            ReadTensor(file, item.value(), data_start, file_bytes - data_start);
      } else if (metadata != nullptr) {
        *metadata = item.value().get<std::map<std::string, std::string>>();
      }
    }
  } catch (const std::exception& exception) {
    Fail(path, "wrong header at '" + name + "': " + exception.what());
  }
  return tensors;
}

}  // namespace trainbench
