// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_FLAT_GRADIENTS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_FLAT_GRADIENTS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/overlap_base.h"

namespace trainbench {

// Moves each gradient, divided by the number of ranks, into one buffer while
// the backward pass goes on. Finish() then reduces the buffer in one call.
class FlatGradients final : public OverlapBase {
 public:
  // [elements, rounded up to a multiple of the ranks] -> summed over the ranks.
  using Reduce = std::function<void(const at::Tensor& values)>;

  FlatGradients(std::vector<at::Tensor> parameters, ProcessGroup& group,
                Reduce reduce);

  const at::Tensor& values() const { return buffer_.values; }
  // What a rank sends if the buffer is reduced for all of them.
  double AllReducedBytes() const;

 private:
  void OnGradient(std::size_t index) override;
  void WaitAll() override { reduce_(buffer_.values); }

  FlatBuffer buffer_;
  Reduce reduce_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_FLAT_GRADIENTS_H_
