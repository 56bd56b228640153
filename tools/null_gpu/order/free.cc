// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/free.h"

#include <string>

#include "tools/null_gpu/order/blocks.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/order/state.h"

namespace null_gpu {
namespace {

// `clock` belongs to the next user of the memory.
void CheckFree(const void* memory, size_t bytes, const Clock& clock) {
  const auto* const begin = static_cast<const char*>(memory);
  const auto touch = GetOrderState().history.FindUnknown(begin, bytes, clock);
  if (!touch) return;
  Die("memory is freed that " + OnStream(*touch) +
      ", and nothing orders the two");
}

void Forget(const void* begin, size_t bytes) {
  GetOrderState().history.Forget(static_cast<const char*>(begin), bytes);
}

}  // namespace

void OrderBlock(const void* begin, size_t bytes) {
  const std::lock_guard lock(StreamMutex());
  GetBlocks().Add(static_cast<const char*>(begin), bytes);
}

void OrderBlockEnd(const void* begin) {
  const std::lock_guard lock(StreamMutex());
  GetBlocks().Remove(static_cast<const char*>(begin));
}

void OrderBlockFree(const void* begin, size_t bytes, int device,
                    cudaStream_t handle) {
  if (!IsOrderChecked()) return;
  const std::lock_guard lock(StreamMutex());
  Stream* const stream =
      handle == nullptr ? StreamsOf(device).front() : FindStream(handle);
  if (stream == nullptr) return;
  CatchUp(*stream);
  CheckFree(begin, bytes, stream->clock);
}

void OrderFree(const void* begin, size_t bytes, int device) {
  if (!IsOrderChecked()) return;
  const std::lock_guard lock(StreamMutex());
  OrderHostAfterDevice(device);
  Forget(begin, bytes);
}

void OrderFreeAsync(const void* begin, size_t bytes, cudaStream_t handle) {
  if (!IsOrderChecked()) return;
  const std::lock_guard lock(StreamMutex());
  Stream* const stream = FindStream(handle);
  if (stream == nullptr) return;
  CatchUp(*stream);
  CheckFree(begin, bytes, stream->clock);
  Forget(begin, bytes);
}

void OrderUnmap(const void* begin, size_t bytes) {
  if (!IsOrderChecked()) return;
  const std::lock_guard lock(StreamMutex());
  CheckFree(begin, bytes, GetOrderState().host);
  Forget(begin, bytes);
}

}  // namespace null_gpu
