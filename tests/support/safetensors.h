// SPDX-License-Identifier: MIT
// Reads the goldens that tests/data/make_goldens.py writes.

#ifndef TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_
#define TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace trainbench {

// Returns every tensor of a safetensors file (dtypes F32, F64 and I64) by name,
// as a contiguous CPU tensor that owns its memory, and the entries of
// "__metadata__". Throws if the file is missing or breaks off.
std::map<std::string, at::Tensor> LoadSafetensors(
    const std::string& path, std::map<std::string, std::string>& metadata);

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_
