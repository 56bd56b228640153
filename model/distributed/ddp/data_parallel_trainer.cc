// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/data_parallel_trainer.h"

#include <utility>

namespace trainbench {

DataParallelTrainer::DataParallelTrainer(std::vector<at::Tensor> parameters,
                                         std::unique_ptr<GradientSync> sync,
                                         const AdamWOptions& options)
    : parameters_(std::move(parameters)),
      optimizer_(parameters_, AdamWKind::kFused, options),
      sync_(std::move(sync)) {}

void DataParallelTrainer::BeforeForward() {
  if (sync_) sync_->BeforeForward();
}

void DataParallelTrainer::BeforeBackward() {
  if (sync_) sync_->BeforeBackward();
}

void DataParallelTrainer::Finish() {
  if (sync_) sync_->Finish();
}

void DataParallelTrainer::Update() {
  optimizer_.Step();
  for (const at::Tensor& parameter : parameters_) {
    parameter.mutable_grad().reset();
  }
}

void DataParallelTrainer::SetExchanges(bool on) {
  if (sync_) sync_->SetExchanges(on);
}

}  // namespace trainbench
