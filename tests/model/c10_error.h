// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TESTS_MODEL_C10_ERROR_H_
#define TRAINBENCH_TESTS_MODEL_C10_ERROR_H_

#include <c10/util/Exception.h>

#include <functional>
#include <string>

namespace trainbench {

// Returns the message of the c10::Error that `call` throws, or "no error".
inline std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_C10_ERROR_H_
