// SPDX-License-Identifier: MIT
// For LD_PRELOAD: the thread that Kineto starts with the first profile never
// runs, so a process that waits for it hangs.

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace {

void* Starve(void* /*argument*/) {
  for (;;) pause();
}

bool CalledByKineto() {
  void* callers[16];
  const int count = backtrace(callers, std::size(callers));
  return std::any_of(callers, callers + count, [](void* caller) {
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_sname != nullptr &&
           std::string_view(info.dli_sname).find("ConfigLoader") !=
               std::string_view::npos;
  });
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(
      dlsym(RTLD_NEXT, "pthread_create"));
  if (!CalledByKineto()) return create(thread, attributes, run, argument);
  std::fputs("Kineto's thread starves\n", stderr);
  return create(thread, attributes, Starve, nullptr);
}
