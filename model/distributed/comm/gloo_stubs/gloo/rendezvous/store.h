// SPDX-License-Identifier: MIT
// Declares just enough of Gloo to parse ProcessGroupGloo.hpp: see README.md.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_RENDEZVOUS_STORE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_RENDEZVOUS_STORE_H_

#include <chrono>
#include <string>
#include <vector>

namespace gloo::rendezvous {

class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::vector<char>& data) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys,
                    const std::chrono::milliseconds& timeout) {
    static_cast<void>(timeout);
    wait(keys);
  }
};

}  // namespace gloo::rendezvous

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_RENDEZVOUS_STORE_H_
