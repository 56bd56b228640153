// SPDX-License-Identifier: MIT
// The GPUs that the null GPU can stand for.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace null_gpu {

// Figures of the SXM variants from NVIDIA's data sheets. `memory_bytes` is the
// total that cudaMemGetInfo reports on such a card, less than in the data
// sheet: the smallest figure that PyTorch has been seen to report.
struct Profile {
  std::string_view key;
  std::string_view name;  // as the driver spells it
  size_t memory_bytes;
  int multiprocessors;
  int major, minor;  // compute capability
  int l2_bytes;
  int clock_khz;  // boost
  int memory_clock_khz;
  int bus_bits;
  int shared_bytes_per_multiprocessor;
};

std::span<const Profile> Profiles();

// Returns null for an unknown key.
const Profile* FindProfile(std::string_view key);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_
