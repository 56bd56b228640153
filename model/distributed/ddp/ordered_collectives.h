// SPDX-License-Identifier: MIT
// Starts collectives in a fixed order, whatever the order they become ready in.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// Starts collectives 0, 1, 2, ... in this order, each as soon as it and all
// earlier ones are ready. Ranks must start the same collectives in the same
// order, but their backward passes may complete gradients in different orders.
class OrderedCollectives {
 public:
  using Start = std::function<std::unique_ptr<Collective>(std::size_t index)>;

  OrderedCollectives(std::size_t count, Start start);

  void MarkReady(std::size_t index);
  // Waits for all collectives, which must be ready, and resets for the next
  // step.
  void WaitAll();

 private:
  Start start_;
  std::vector<bool> ready_;
  std::vector<std::unique_ptr<Collective>> started_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_ORDERED_COLLECTIVES_H_
