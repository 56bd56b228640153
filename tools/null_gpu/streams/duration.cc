// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/duration.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

constexpr double kLeastNs = 1000;
constexpr double kNsPerUs = 1e3, kNsPerSecond = 1e9;

thread_local Work stated_work;

// Several pointers into one block are slices of it, or it is read and written:
// it counts twice at most.
double LocatedBytes(const Operation& operation) {
  struct Touched {
    double most = 0, all = 0;
  };
  std::map<uint64_t, Touched> blocks;
  for (const Access& access : operation.accesses) {
    const auto here = static_cast<double>(access.bytes);
    Touched& block = blocks[access.block];
    block.most = std::max(block.most, here);
    block.all += here;
  }
  double bytes = 0;
  for (const auto& [id, block] : blocks) {
    const bool is_known = id != 0;
    bytes += is_known ? std::min(block.all, 2 * block.most) : block.all;
  }
  return bytes;
}

// Returns the bytes of LibTorch's kernels on lists of tensors, 0 for others. A
// launch has pointers to whole tensors, but updates one piece per block
// (aten/src/ATen/native/cuda/MultiTensorApply.cuh). Each list is read, and all
// except one, the gradients, are written.
double BytesOfLists(const Operation& operation) {
  constexpr double kPieceElements = 65536;
  constexpr std::string_view kLists = "MetadataILi";
  const std::string_view name = operation.kernel->name;
  const size_t at = name.find(kLists);
  if (name.find("multi_tensor_apply") == name.npos || at == name.npos) return 0;
  const double lists = std::atof(name.data() + at + kLists.size());
  const bool has_16_bits =
      name.find("8BFloat16") != name.npos || name.find("4Half") != name.npos;
  const double piece_bytes = kPieceElements * (has_16_bits ? 2 : 4);
  const double pieces = lists * operation.grid.x * piece_bytes;
  return std::min(LocatedBytes(operation), pieces) * (2 * lists - 1) / lists;
}

double ProductNs(const Work& work, const Rates& rates) {
  const double flops_us = 1e6 * work.flops / rates.Peak(work.arithmetic);
  const double bytes_us = 1e6 * work.bytes / rates.memory;
  const double share = rates.ProductShare(flops_us, bytes_us);
  return kNsPerUs * std::max(flops_us / share, bytes_us);
}

double AttentionNs(const Work& work, const Rates& rates) {
  const double of_long =
      rates.attention * (work.is_backward ? rates.attention_backward : 1);
  const double share = work.seq / (work.seq + rates.attention_half_seq);
  // The rate is for operands of 16 bits.
  const double peak = rates.Peak(work.arithmetic);
  return kNsPerSecond * work.flops / std::min(of_long * share, peak);
}

double KernelNs(const Operation& operation, const Rates& rates) {
  const Work& work = operation.work;
  if (operation.is_collective) {
    return kNsPerUs * rates.link_us + kNsPerSecond * work.bytes / rates.link;
  }
  if (work.seq > 0) return AttentionNs(work, rates);
  if (work.flops > 0) return ProductNs(work, rates);
  const double of_lists = BytesOfLists(operation);
  const double bytes = of_lists > 0 ? of_lists : LocatedBytes(operation);
  return kNsPerSecond * bytes / (rates.memory * rates.memory_share);
}

double CopyNs(const Operation& operation, const Rates& rates) {
  const auto bytes = static_cast<double>(operation.bytes);
  switch (operation.direction) {
    case cudaMemcpyHostToDevice:
    case cudaMemcpyDeviceToHost:
      return kNsPerSecond * bytes / rates.host_link;
    default:
      return kNsPerSecond * 2 * bytes / rates.memory;
  }
}

double Ns(const Operation& operation, const Rates& rates) {
  switch (operation.kind) {
    case Operation::Kind::kKernel:
      return KernelNs(operation, rates);
    case Operation::Kind::kCopy:
      return CopyNs(operation, rates);
    case Operation::Kind::kFill:
      return kNsPerSecond * static_cast<double>(operation.bytes) / rates.memory;
    default:
      return 0;
  }
}

}  // namespace

int64_t PredictedNs(const Operation& operation, const Rates& rates) {
  return static_cast<int64_t>(std::max(kLeastNs, Ns(operation, rates)));
}

Work TakeStatedWork() { return std::exchange(stated_work, {}); }

}  // namespace null_gpu

extern "C" void trainbench_null_gpu_attention(double flops, double seq,
                                              int is_backward, int is_fp32) {
  using null_gpu::Arithmetic;
  null_gpu::stated_work = {
      .flops = flops,
      .arithmetic = is_fp32 != 0 ? Arithmetic::kFp32 : Arithmetic::kBf16,
      .seq = seq,
      .is_backward = is_backward != 0};
}
