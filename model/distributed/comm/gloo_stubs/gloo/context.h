// SPDX-License-Identifier: MIT
// Declares just enough of Gloo to parse ProcessGroupGloo.hpp: see README.md.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_CONTEXT_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_CONTEXT_H_

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds getTimeout() const;
};

}  // namespace gloo

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_CONTEXT_H_
