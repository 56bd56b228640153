// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_TRAINER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_TRAINER_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>
#include <vector>

#include "model/distributed/ddp/data_parallel_trainer.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/training/adamw.h"

namespace trainbench {

// Trains a rank's part of a model, which may have replicas. The exchanges of
// its layers are part of the forward and backward pass.
class TensorParallelTrainer final : public DataParallelTrainer {
 public:
  // `ranks` must outlive the object; `parameters` are the part's.
  TensorParallelTrainer(TensorRanks& ranks, std::vector<at::Tensor> parameters,
                        std::unique_ptr<GradientSync> sync,
                        const AdamWOptions& options = {})
      : DataParallelTrainer(std::move(parameters), std::move(sync), options),
        ranks_(ranks) {}

  void SetExchanges(bool on) override {
    ranks_.set_sends(on);
    DataParallelTrainer::SetExchanges(on);
  }

 private:
  TensorRanks& ranks_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_PARALLEL_TRAINER_H_
