// SPDX-License-Identifier: MIT
// Reads the golden numbers that tests/data/make_goldens.py writes.

#ifndef TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_
#define TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace trainbench {

// Every tensor of a safetensors file (dtypes F32, F64 and I64) as a contiguous
// CPU tensor that owns its memory, by name. `metadata`, unless null, receives
// the entries of "__metadata__". Throws std::runtime_error, whose text names
// the file, if it cannot be read or is not valid.
std::map<std::string, at::Tensor> LoadSafetensors(
    const std::string& path, std::map<std::string, std::string>* metadata);

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_SAFETENSORS_H_
