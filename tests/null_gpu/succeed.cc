// SPDX-License-Identifier: MIT

#include "succeed.h"

#include <string>

#include "counters.h"
#include "settings.h"

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
