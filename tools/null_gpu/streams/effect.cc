// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/effect.h"

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

// Data that the host copied to a device and no kernel can have changed since.
//
// A device computes nothing, but LibTorch's Reducer sends the order of its
// buckets through one and uses what it reads back. So small copies are kept
// until the next fill or kernel except NCCL's.
std::unordered_map<const void*, std::string>& Messages() {
  static auto* const messages =
      new std::unordered_map<const void*, std::string>;
  return *messages;
}

void KeepMessage(const Operation& copy) {
  constexpr size_t kMostBytes = 1 << 16;
  if (copy.bytes > kMostBytes) {
    Messages().erase(copy.to);
  } else {
    Messages()[copy.to].assign(static_cast<const char*>(copy.from), copy.bytes);
  }
}

// Returns false if it was not kept.
bool ReadMessage(const Operation& copy) {
  const auto message = Messages().find(copy.from);
  if (message == Messages().end() || message->second.size() < copy.bytes) {
    return false;
  }
  std::memcpy(copy.to, message->second.data(), copy.bytes);
  return true;
}

void Copy(const Operation& copy) {
  std::memmove(copy.to, copy.from, copy.bytes);
}

void CopyWithoutValues(const Operation& copy) {
  switch (copy.direction) {
    case cudaMemcpyHostToDevice:
      return KeepMessage(copy);
    case cudaMemcpyDeviceToHost:
      if (!ReadMessage(copy)) std::memset(copy.to, 0, copy.bytes);
      return;
    case cudaMemcpyHostToHost:
      return Copy(copy);
    default:
      return;
  }
}

void ApplyWithoutValues(const Operation& operation) {
  if (operation.kind == Operation::Kind::kCopy) CopyWithoutValues(operation);
  const bool writes =
      operation.kind == Operation::Kind::kFill ||
      (operation.kind == Operation::Kind::kKernel && !operation.is_collective);
  if (writes) Messages().clear();
}

void RunBody(const Operation& operation, int device) {
  const Body* const body = operation.kernel->body.load();
  if (body == nullptr || operation.argument.empty()) return;
  std::vector<trainbench_null_gpu_range> memory;
  for (const Range& range : GetMemory().OfDevice(device)) {
    memory.push_back({range.base, range.wanted});
  }
  const dim3 grid = operation.grid, block = operation.block;
  const trainbench_null_gpu_launch launch = {
      .grid = {grid.x, grid.y, grid.z},
      .block = {block.x, block.y, block.z},
      .shared_bytes = operation.shared_bytes,
      .argument = operation.argument.data(),
      .memory = memory.data(),
      .ranges = memory.size()};
  body->run(&launch);
}

}  // namespace

void ApplyToMemory(const Operation& operation, int device) {
  if (!GetSettings().values) return ApplyWithoutValues(operation);
  switch (operation.kind) {
    case Operation::Kind::kCopy:
      return Copy(operation);
    case Operation::Kind::kFill:
      std::memset(operation.to, operation.value, operation.bytes);
      return;
    case Operation::Kind::kKernel:
      return RunBody(operation, device);
    default:
      return;
  }
}

}  // namespace null_gpu
