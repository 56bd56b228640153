// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/cubin.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

// NVIDIA does not document the layout or the numbers. They were inferred from
// binaries of nvcc 13.0 and of LibTorch and the output of `ptxas -v`.
struct FatHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

struct FatEntry {
  uint16_t kind, unknown;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t compressed_bytes, unknown2;
  uint16_t minor, major;
  uint32_t architecture, name[2];
  uint64_t flags, unknown3, whole_bytes;
};
static_assert(sizeof(FatEntry) == 64);

constexpr uint16_t kElf = 2;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

// Attributes of the sections .nv.info.
constexpr uint8_t kInfoWithPayload = 4;
constexpr uint8_t kInfoMostThreads = 0x05, kInfoArgument = 0x17,
                  kInfoRegisters = 0x2F;

using KernelsOfBinary = std::map<std::string, KernelNeeds, std::less<>>;

template <typename Value>
Value Read(std::string_view bytes, size_t offset) {
  Value value;
  if (offset + sizeof(value) > bytes.size()) Die("a cubin ends too soon");
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// The system's library, which gcc and dpkg need; its headers can be missing.
std::string Decompressed(const char* data, size_t bytes, size_t whole_bytes) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const auto decompress = [] {
    void* const library = dlopen("libzstd.so.1", RTLD_NOW);
    if (library == nullptr) Die("there is no libzstd.so.1 to read kernels");
    return reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  }();
  std::string whole(whole_bytes, '\0');
  if (decompress(whole.data(), whole.size(), data, bytes) != whole_bytes) {
    Die("a cubin cannot be decompressed");
  }
  return whole;
}

// Returns code for the devices, also for an earlier minor version, or "".
std::string FindElf(const void* fat_binary) {
  const char* data = nullptr;
  std::memcpy(&data, static_cast<const char*>(fat_binary) + 8, sizeof(data));
  FatHeader header;
  std::memcpy(&header, data, sizeof(header));
  if (header.magic != 0xBA55ED50) return "";
  const Profile& profile = *GetSettings().profile;
  const auto newest = static_cast<uint32_t>(profile.major * 10 + profile.minor);
  const auto oldest = static_cast<uint32_t>(profile.major * 10);
  const char* const end = data + header.header_bytes + header.bytes;
  const char* best = nullptr;
  FatEntry found = {};
  FatEntry entry;
  for (const char* at = data + header.header_bytes; at < end;
       at += entry.header_bytes + entry.bytes) {
    std::memcpy(&entry, at, sizeof(entry));
    if (entry.kind != kElf || entry.architecture < oldest ||
        entry.architecture > newest) {
      continue;
    }
    if (best != nullptr && entry.architecture <= found.architecture) continue;
    best = at + entry.header_bytes;
    found = entry;
  }
  if (best == nullptr) return "";
  if ((found.flags & kLz4) != 0) Die("a cubin is compressed by LZ4");
  if ((found.flags & kZstd) == 0) return {best, found.bytes};
  return Decompressed(best, found.compressed_bytes, found.whole_bytes);
}

class Cubin {
 public:
  explicit Cubin(std::string_view elf) : elf_(elf) {
    const auto header = Read<Elf64_Ehdr>(elf_, 0);
    for (size_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(
          Read<Elf64_Shdr>(elf_, header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    names_ = Content(sections_.at(header.e_shstrndx));
  }

  KernelsOfBinary Kernels() {
    for (const Elf64_Shdr& section : sections_) {
      const std::string_view name = names_.data() + section.sh_name;
      if (name == ".nv.info") {
        ReadRegisters(section);
      } else if (name.starts_with(".nv.info.")) {
        ReadKernel(kernels_[std::string(name.substr(9))], section);
      } else if (name.starts_with(".nv.shared.")) {
        ReadShared(name.substr(11), section);
      }
    }
    return std::move(kernels_);
  }

 private:
  std::string_view Content(const Elf64_Shdr& section) const {
    return elf_.substr(section.sh_offset, section.sh_size);
  }

  // Calls visit(attribute, payload).
  template <typename Visit>
  static void ForEachAttribute(std::string_view info, Visit&& visit) {
    for (size_t at = 0; at + 4 <= info.size(); at += 4) {
      if (info[at] != kInfoWithPayload) continue;
      const auto bytes = Read<uint16_t>(info, at + 2);
      visit(static_cast<uint8_t>(info[at + 1]), info.substr(at + 4, bytes));
      at += bytes;
    }
  }

  void ReadRegisters(const Elf64_Shdr& section) {
    const Elf64_Shdr& table = sections_.at(section.sh_link);
    const char* const names = Content(sections_.at(table.sh_link)).data();
    const auto visit = [&](uint8_t attribute, std::string_view payload) {
      if (attribute != kInfoRegisters) return;
      const size_t index = Read<uint32_t>(payload, 0);
      const auto symbol =
          Read<Elf64_Sym>(Content(table), index * sizeof(Elf64_Sym));
      kernels_[names + symbol.st_name].registers = Read<uint32_t>(payload, 4);
    };
    ForEachAttribute(Content(section), visit);
  }

  void ReadKernel(KernelNeeds& kernel, const Elf64_Shdr& section) {
    const auto visit = [&](uint8_t attribute, std::string_view payload) {
      if (attribute == kInfoMostThreads) {
        kernel.most_threads = Read<uint32_t>(payload, 0) *
                              Read<uint32_t>(payload, 4) *
                              Read<uint32_t>(payload, 8);
      } else if (attribute == kInfoArgument) {
        const auto ordinal = Read<uint16_t>(payload, 4);
        if (kernel.arguments.size() <= ordinal) {
          kernel.arguments.resize(ordinal + size_t{1});
        }
        kernel.arguments[ordinal] = Read<uint32_t>(payload, 8) >> 18;
      }
    };
    ForEachAttribute(Content(section), visit);
  }

  void ReadShared(std::string_view name, const Elf64_Shdr& section) {
    const auto kernel = kernels_.find(name);
    if (kernel == kernels_.end()) return;
    // From sm_90 on, the section begins with memory that the driver reserves.
    const size_t reserved = GetSettings().profile->major >= 9 ? 1024 : 0;
    kernel->second.shared_bytes =
        section.sh_size - std::min<size_t>(section.sh_size, reserved);
  }

  std::string_view elf_, names_;
  std::vector<Elf64_Shdr> sections_;
  KernelsOfBinary kernels_;
};

}  // namespace

unsigned MostThreads(const KernelNeeds& needs) {
  // A warp takes registers in steps of 256.
  constexpr unsigned kAll = 65536, kWarp = 32, kStep = 256;
  const unsigned warp = (needs.registers * kWarp + kStep - 1) / kStep * kStep;
  return warp > 0 ? kAll / warp * kWarp : kAll;
}

const KernelNeeds* NeedsOf(const void* fat_binary, std::string_view kernel) {
  static auto* const mutex = new std::mutex;
  static auto* const binaries = new std::map<const void*, KernelsOfBinary>;
  const std::lock_guard lock(*mutex);
  const auto [binary, is_new] = binaries->try_emplace(fat_binary);
  if (is_new) {
    const std::string elf = FindElf(fat_binary);
    if (!elf.empty()) binary->second = Cubin(elf).Kernels();
  }
  const auto found = binary->second.find(kernel);
  return found != binary->second.end() ? &found->second : nullptr;
}

}  // namespace null_gpu
