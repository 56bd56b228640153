// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/external_correlation.h"

#include <vector>

namespace null_gpu {
namespace {

using Stacks = std::map<CUpti_ExternalCorrelationKind, std::vector<uint64_t>>;

Stacks& ThreadStacks() {
  thread_local Stacks stacks;
  return stacks;
}

}  // namespace

void PushExternalId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  ThreadStacks()[kind].push_back(id);
}

bool PopExternalId(CUpti_ExternalCorrelationKind kind, uint64_t* id) {
  std::vector<uint64_t>& stack = ThreadStacks()[kind];
  if (stack.empty()) return false;
  if (id != nullptr) *id = stack.back();
  stack.pop_back();
  return true;
}

std::map<CUpti_ExternalCorrelationKind, uint64_t> ExternalIds() {
  std::map<CUpti_ExternalCorrelationKind, uint64_t> ids;
  for (const auto& [kind, stack] : ThreadStacks()) {
    if (!stack.empty()) ids[kind] = stack.back();
  }
  return ids;
}

}  // namespace null_gpu
