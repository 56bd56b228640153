// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/succeed.h"

#include <string>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/settings.h"

namespace null_gpu {

int Succeed(const char* function) {
  ApiEntry::Of(function).calls().Add();
  return 0;
}

int Missing(const char* function) {
  Die(std::string(function) +
      " was called, which is neither written out nor in succeeds.txt");
}

}  // namespace null_gpu
