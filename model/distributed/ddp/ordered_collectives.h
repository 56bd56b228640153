// SPDX-License-Identifier: MIT
// Collectives that become ready in any order and start in one.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Starts collectives 0, 1, 2, ... in this order, each as soon as it and all
// before it are ready. Ranks have to start the same ones in the same order, but
// their backward passes do not complete gradients in the same order.
class OrderedCollectives {
 public:
  using Start = std::function<std::unique_ptr<Collective>(std::size_t index)>;

  OrderedCollectives(std::size_t count, Start start);

  void MarkReady(std::size_t index);
  // Waits for all, which must be ready, and forgets them: a new round begins.
  void WaitAll();

 private:
  Start start_;
  std::vector<bool> ready_;
  std::vector<std::unique_ptr<Collective>> started_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_
