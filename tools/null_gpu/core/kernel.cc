// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/kernel.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

struct Registered {
  const char* name;
  const void* fat_binary;
};

struct Registry {
  std::mutex mutex;
  // LibTorch registers some 50,000 kernels and launches few of them.
  std::unordered_map<const void*, Registered> registered;
  std::unordered_map<const void*, Kernel*> found;
  std::map<std::string, Kernel*, std::less<>> by_name;
  std::vector<const Body*> bodies;  // never deleted: launches may run
};

Registry& GetRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// Requires the registry's mutex.
const Body* BodyOf(const Registry& registry, const char* kernel) {
  if (registry.bodies.empty()) return nullptr;
  const std::string name = Demangled(kernel);
  const auto found = std::find_if(
      registry.bodies.rbegin(), registry.bodies.rend(),
      [&](const Body* body) { return name.find(body->part) != name.npos; });
  return found != registry.bodies.rend() ? *found : nullptr;
}

// Requires the registry's mutex.
Kernel* Named(Registry& registry, std::string_view name) {
  const auto at = registry.by_name.find(name);
  if (at != registry.by_name.end()) return at->second;
  const auto made = registry.by_name.emplace(name, nullptr).first;
  const char* const kept = made->first.c_str();
  const bool spins =
      GetSettings().spins && name.find("SpinKernel") != name.npos;
  made->second = new Kernel{kept, {}, spins, BodyOf(registry, kept)};
  return made->second;
}

}  // namespace

void RegisterKernel(const void* host, const char* name,
                    const void* fat_binary) {
  Registry& registry = GetRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.registered[host] = {name, fat_binary};
}

Kernel* FindKernel(const void* host) {
  Registry& registry = GetRegistry();
  const std::lock_guard lock(registry.mutex);
  Kernel*& kernel = registry.found[host];
  if (kernel == nullptr) {
    const auto at = registry.registered.find(host);
    if (at == registry.registered.end()) return nullptr;
    const auto& [name, fat_binary] = at->second;
    kernel = Named(registry, name);
    if (fat_binary != nullptr) kernel->needs = NeedsOf(fat_binary, name);
  }
  return kernel;
}

Kernel* NamedKernel(std::string_view name) {
  Registry& registry = GetRegistry();
  const std::lock_guard lock(registry.mutex);
  return Named(registry, name);
}

std::vector<Kernel*> AllKernels() {
  Registry& registry = GetRegistry();
  const std::lock_guard lock(registry.mutex);
  std::vector<Kernel*> kernels;
  for (const auto& [name, kernel] : registry.by_name) kernels.push_back(kernel);
  return kernels;
}

const KernelNeeds& NeedsOf(const Kernel* kernel) {
  static const auto* const unknown = new KernelNeeds;
  const KernelNeeds* const known =
      kernel != nullptr ? kernel->needs.load() : nullptr;
  return known != nullptr ? *known : *unknown;
}

void Emulate(const Body& body) {
  Registry& registry = GetRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.bodies.push_back(new Body(body));
  for (const auto& [name, kernel] : registry.by_name) {
    kernel->body = BodyOf(registry, kernel->name);
  }
}

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace null_gpu

extern "C" void trainbench_null_gpu_emulate(const char* part,
                                            size_t argument_bytes,
                                            trainbench_null_gpu_body body) {
  if (!null_gpu::GetSettings().values) {
    null_gpu::Die("kernels compute only with TRAINBENCH_NULL_GPU_VALUES=1");
  }
  null_gpu::Emulate({part, argument_bytes, body});
}
