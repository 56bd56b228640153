// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_DATA_PARALLEL_TRAINER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_DATA_PARALLEL_TRAINER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/training/adamw.h"

namespace trainbench {

// Trains a replica, or a rank's part of one, with its whole AdamW state.
// Without a `sync`, the replicas train independently.
class DataParallelTrainer final : public ParallelTrainer {
 public:
  // `sync` may be null; otherwise it was created with these parameters.
  // SetExchanges() also calls `set_others`, for exchanges in the passes.
  DataParallelTrainer(std::vector<at::Tensor> parameters,
                      std::unique_ptr<GradientSync> sync,
                      const AdamWOptions& options = {},
                      std::function<void(bool)> set_others = nullptr)
      : parameters_(std::move(parameters)),
        optimizer_(parameters_, AdamWKind::kFused, options),
        sync_(std::move(sync)),
        set_others_(std::move(set_others)) {}

  void BeforeForward() override {
    if (sync_) sync_->BeforeForward();
  }
  void BeforeBackward() override {
    if (sync_) sync_->BeforeBackward();
  }
  void Finish() override {
    if (sync_) sync_->Finish();
  }
  void Update() override {
    optimizer_.Step();
    for (const at::Tensor& parameter : parameters_) {
      parameter.mutable_grad().reset();
    }
  }
  bool averages_gradients() const override { return sync_ != nullptr; }
  void SetExchanges(bool on) override {
    if (sync_) sync_->SetExchanges(on);
    if (set_others_) set_others_(on);
  }
  const AdamW& optimizer() const override { return optimizer_; }

  AdamW& optimizer() { return optimizer_; }
  // Bytes copied into buffers and back in the last finished step.
  int64_t CopiedBytes() const { return sync_ ? sync_->CopiedBytes() : 0; }

 private:
  std::vector<at::Tensor> parameters_;
  AdamW optimizer_;
  std::unique_ptr<GradientSync> sync_;
  std::function<void(bool)> set_others_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_DATA_PARALLEL_TRAINER_H_
