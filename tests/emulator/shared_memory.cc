// SPDX-License-Identifier: MIT

#include "tests/emulator/shared_memory.h"

#include <algorithm>
#include <cstring>

namespace trainbench::emulator {
namespace {

constexpr int kCopyBytes = 16;
constexpr std::byte kPoison{0xff};  // NaN in fp32 and in bf16

}  // namespace

void SharedMemory::Reset(int bytes) {
  bytes_.assign(bytes, kPoison);
  words_.assign((bytes + kWordBytes - 1) / kWordBytes, AccessRecord());
  copying_.assign(words_.size(), false);
}

const char* SharedMemory::Misplaced(int at, int bytes) const {
  if (at < 0 || at + bytes > static_cast<int>(bytes_.size())) {
    return "leaves shared memory";
  }
  if (at % bytes != 0) return "is misaligned in shared memory";
  return nullptr;
}

const char* SharedMemory::Touch(int at, int bytes, Access access,
                                const Moment& now) {
  const char* wrong = nullptr;
  for (int word = at / kWordBytes; word < (at + bytes) / kWordBytes; ++word) {
    if (copying_[word]) return "touches the target of a copy under way";
    const char* race = words_[word].Record(access, now);
    if (race != nullptr) wrong = race;
  }
  return wrong;
}

const char* SharedMemory::Read(int at, void* to, int bytes, const Moment& now) {
  if (const char* wrong = Misplaced(at, bytes)) return wrong;
  std::memcpy(to, &bytes_[at], bytes);
  return Touch(at, bytes, Access::kRead, now);
}

const char* SharedMemory::Write(int at, const void* from, int bytes,
                                const Moment& now) {
  if (const char* wrong = Misplaced(at, bytes)) return wrong;
  std::memcpy(&bytes_[at], from, bytes);
  return Touch(at, bytes, Access::kWrite, now);
}

const char* SharedMemory::BeginCopy(int at, const Moment& now) {
  if (const char* wrong = Misplaced(at, kCopyBytes)) return wrong;
  const char* wrong = Touch(at, kCopyBytes, Access::kWrite, now);
  std::fill_n(&bytes_[at], kCopyBytes, kPoison);
  std::fill_n(copying_.begin() + at / kWordBytes, kCopyBytes / kWordBytes,
              true);
  return wrong;
}

const char* SharedMemory::EndCopy(int at, const void* from, const Moment& now) {
  std::fill_n(copying_.begin() + at / kWordBytes, kCopyBytes / kWordBytes,
              false);
  return Write(at, from, kCopyBytes, now);
}

}  // namespace trainbench::emulator
