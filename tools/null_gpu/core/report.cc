// SPDX-License-Identifier: MIT
// Implements null_gpu.h, and the report at the end of the process.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

std::string Member(std::string_view key, const std::string& value) {
  return Quoted(key) + ":" + value;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ',';
    text += part;
  }
  return text;
}

std::string CountersJson(Since since) {
  std::vector<std::string> members;
  for (const auto& [name, count] : ReadCounters(since)) {
    members.push_back(Member(name, std::to_string(count)));
  }
  return "{" + Joined(members) + "}";
}

std::string KernelsJson(Since since) {
  std::vector<std::pair<uint64_t, const char*>> kernels;
  for (const Kernel* kernel : AllKernels()) {
    const uint64_t launches = kernel->launches.Value(since);
    if (launches > 0) kernels.emplace_back(launches, kernel->name);
  }
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> members;
  for (const auto& [launches, name] : kernels) {
    members.push_back("{" +
                      Joined({Member("name", Quoted(Demangled(name))),
                              Member("mangled", Quoted(name)),
                              Member("launches", std::to_string(launches))}) +
                      "}");
  }
  return "[" + Joined(members) + "]";
}

std::string CallsJson(Since since) {
  std::vector<std::string> members;
  for (ApiEntry* entry : ApiEntry::All()) {
    const uint64_t calls = entry->calls().Value(since);
    if (calls > 0) {
      members.push_back(Member(entry->name(), std::to_string(calls)));
    }
  }
  return "{" + Joined(members) + "}";
}

std::string Json(Since since) {
  const Settings& settings = GetSettings();
  return "{" +
         Joined({Member("profile", Quoted(settings.profile->key)),
                 Member("device", Quoted(DeviceName())),
                 Member("devices", std::to_string(settings.devices)),
                 Member("pid", std::to_string(getpid())),
                 Member("counters", CountersJson(since)),
                 Member("kernels", KernelsJson(since)),
                 Member("calls", CallsJson(since))}) +
         "}";
}

std::atomic<bool> is_written = false;

// Writes one line for each process. The library is also loaded into processes
// that never use a GPU, such as shells, which write none.
__attribute__((destructor)) void WriteReport() {
  if (ApiEntry::All().empty() || is_written.exchange(true)) return;
  const std::string& file = GetSettings().report;
  if (file.empty()) return;
  const std::string line = Json(Since::kStart) + "\n";
  const int descriptor =
      open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  // One write, so that the lines of processes that end together stay whole.
  if (descriptor < 0 || write(descriptor, line.data(), line.size()) !=
                            static_cast<ssize_t>(line.size())) {
    std::perror(("null GPU: " + file).c_str());
  }
  if (descriptor >= 0) close(descriptor);
}

}  // namespace
}  // namespace null_gpu

extern "C" {

// For a process that ends without destructors, like one that has profiled.
void _Exit(int status) noexcept {
  null_gpu::WriteReport();
  _exit(status);
}

int trainbench_null_gpu_version() { return TRAINBENCH_NULL_GPU_VERSION; }

int trainbench_null_gpu_predicts() {
  return null_gpu::GetSettings().rates ? 1 : 0;
}

void trainbench_null_gpu_reset() { null_gpu::ResetCounters(); }

uint64_t trainbench_null_gpu_count(const char* name) {
  return null_gpu::ReadCounters(null_gpu::Since::kReset).at(name);
}

size_t trainbench_null_gpu_json(char* text, size_t size) {
  const std::string json = null_gpu::Json(null_gpu::Since::kReset);
  if (size > 0) {
    const size_t length = std::min(size - 1, json.size());
    std::memcpy(text, json.data(), length);
    text[length] = '\0';
  }
  return json.size();
}

}  // extern "C"
