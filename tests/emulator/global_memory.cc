// SPDX-License-Identifier: MIT

#include "tests/emulator/global_memory.h"

namespace trainbench::emulator {

void GlobalMemory::Allow(const void* begin, int64_t bytes, int element_bytes,
                         bool writable) {
  ranges_.push_back({static_cast<const std::byte*>(begin),
                     bytes,
                     element_bytes,
                     writable,
                     {}});
}

void GlobalMemory::EndKernel() {
  for (Range& range : ranges_) range.pages.clear();
}

const char* GlobalMemory::Touch(const void* begin, int bytes, Access access,
                                const Moment& now) {
  if (reinterpret_cast<uintptr_t>(begin) % bytes != 0) {
    return "is misaligned in global memory";
  }
  const auto* first = static_cast<const std::byte*>(begin);
  for (Range& range : ranges_) {
    if (first < range.begin || first + bytes > range.begin + range.bytes) {
      continue;
    }
    if (access != Access::kRead && !range.writable) return "writes an input";
    const int64_t offset = first - range.begin;
    const char* wrong = nullptr;
    for (int64_t i = offset / range.element_bytes;
         i * range.element_bytes < offset + bytes; ++i) {
      Page& page = range.pages[i / kPage];
      if (page.empty()) page.resize(kPage);
      const char* race = page[i % kPage].Record(access, now);
      if (race != nullptr) wrong = race;
    }
    return wrong;
  }
  return "leaves the tensors";
}

}  // namespace trainbench::emulator
