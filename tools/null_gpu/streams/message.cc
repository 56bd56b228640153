// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/message.h"

#include <cstring>
#include <string>
#include <unordered_map>

namespace null_gpu {
namespace {

constexpr size_t kMostBytes = 1 << 16;

using Messages = std::unordered_map<const void*, std::string>;

Messages& GetMessages() {
  static auto* const messages = new Messages;
  return *messages;
}

}  // namespace

void KeepMessage(const void* on_device, const void* from, size_t bytes) {
  if (bytes > kMostBytes) {
    GetMessages().erase(on_device);
  } else {
    GetMessages()[on_device].assign(static_cast<const char*>(from), bytes);
  }
}

bool ReadMessage(const void* on_device, void* to, size_t bytes) {
  const auto message = GetMessages().find(on_device);
  if (message == GetMessages().end() || message->second.size() < bytes) {
    return false;
  }
  std::memcpy(to, message->second.data(), bytes);
  return true;
}

void ForgetMessages() { GetMessages().clear(); }

}  // namespace null_gpu
