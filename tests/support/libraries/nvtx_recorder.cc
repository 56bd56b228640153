// SPDX-License-Identifier: MIT
// A minimal NVTX tool that records the ranges of one domain. NVTX loads it into
// a process through NVTX_INJECTION64_PATH.

#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::string log;  // "push NAME\n" and "pop\n", from every thread
int domain_marker = 0;

nvtxDomainHandle_t NVTX_API CreateDomain(const char* name) {
  // LibTorch has its own domains.
  if (std::strcmp(name, "trainbench") != 0) return nullptr;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain_marker);
}

int NVTX_API Push(nvtxDomainHandle_t, const nvtxEventAttributes_t* range) {
  const std::lock_guard lock(mutex);
  log += std::string("push ") + range->message.ascii + "\n";
  return 0;
}

int NVTX_API Pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(mutex);
  log += "pop\n";
  return 0;
}

}  // namespace

// Returns the record since the last call; valid until the next call.
extern "C" const char* TakeNvtxLog() {
  static std::string taken;
  const std::lock_guard lock(mutex);
  taken.clear();
  taken.swap(log);
  return taken.c_str();
}

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(
      get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ==
          0 ||
      size <= NVTX_CBID_CORE2_DomainRangePop) {
    return 0;
  }
  const auto set = [&](int id, auto* function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, &CreateDomain);
  set(NVTX_CBID_CORE2_DomainRangePushEx, &Push);
  set(NVTX_CBID_CORE2_DomainRangePop, &Pop);
  return 1;
}
