// SPDX-License-Identifier: MIT
// Implements null_gpu.h, and the report at the end of the process.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

using Json = nlohmann::ordered_json;

Json KernelsJson(Since since) {
  // Most frequent first; equally frequent ones keep their order.
  std::multimap<uint64_t, const char*, std::greater<>> launched;
  for (const Kernel* kernel : AllKernels()) {
    const uint64_t launches = kernel->launches.Value(since);
    if (launches > 0) launched.emplace(launches, kernel->name);
  }
  Json kernels = Json::array();
  for (const auto& [launches, name] : launched) {
    kernels.push_back({{"name", Demangled(name)}, {"launches", launches}});
  }
  return kernels;
}

Json CallsJson(Since since) {
  Json calls = Json::object();
  for (ApiEntry* entry : ApiEntry::All()) {
    const uint64_t count = entry->calls().Value(since);
    if (count > 0) calls[entry->name()] = count;
  }
  return calls;
}

std::string Report(Since since) {
  const Json report = {{"pid", getpid()},
                       {"counters", ReadCounters(since)},
                       {"kernels", KernelsJson(since)},
                       {"calls", CallsJson(since)}};
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::atomic<bool> is_written = false;

// Writes one line for each process. The library is also loaded into processes
// that never use a GPU, such as shells, which write none.
__attribute__((destructor)) void WriteReport() {
  if (ApiEntry::All().empty() || is_written.exchange(true)) return;
  const std::string& file = GetSettings().report;
  if (file.empty()) return;
  const std::string line = Report(Since::kStart) + "\n";
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

int trainbench_null_gpu_predicts() {
  return null_gpu::GetSettings().rates ? 1 : 0;
}

void trainbench_null_gpu_reset() { null_gpu::ResetCounters(); }

uint64_t trainbench_null_gpu_count(const char* name) {
  return null_gpu::ReadCounters(null_gpu::Since::kReset).at(name);
}

size_t trainbench_null_gpu_json(char* text, size_t size) {
  const std::string json = null_gpu::Report(null_gpu::Since::kReset);
  if (size > 0) {
    const size_t length = std::min(size - 1, json.size());
    std::memcpy(text, json.data(), length);
    text[length] = '\0';
  }
  return json.size();
}

}  // extern "C"
