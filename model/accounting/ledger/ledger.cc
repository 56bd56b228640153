// SPDX-License-Identifier: MIT

#include "model/accounting/ledger/ledger.h"

#include <algorithm>

namespace trainbench::ledger {

Tensor::Tensor(const Tensor& other)
    : ledger_(other.ledger_), index_(other.index_) {
  if (ledger_ != nullptr) ++ledger_->tensors_[index_].uses;
}

void Tensor::Reset() {
  if (ledger_ != nullptr) ledger_->Free(index_);
  ledger_ = nullptr;
}

int64_t Tensor::bytes() const {
  return ledger_ == nullptr ? 0 : ledger_->tensors_[index_].bytes();
}

bool Tensor::is_shared() const {
  return ledger_ != nullptr && ledger_->tensors_[index_].uses > 1;
}

const char* TypeName(TensorType type) {
  switch (type) {
    case TensorType::kFloat:
      return "float";
    case TensorType::kBfloat16:
      return "bfloat16";
    case TensorType::kLong:
      return "long";
    case TensorType::kBool:
      return "bool";
  }
  return "";
}

int64_t BytesPerElement(TensorType type) {
  switch (type) {
    case TensorType::kFloat:
      return 4;
    case TensorType::kBfloat16:
      return 2;
    case TensorType::kLong:
      return 8;
    case TensorType::kBool:
      return 1;
  }
  return 0;
}

void Ledger::Enter(const TensorName& moment) {
  moments_.push_back({.name = moment});
  Raise(0);
}

const LedgerMoment& Ledger::peak() const {
  return *std::max_element(
      moments_.begin(), moments_.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

void Ledger::Raise(int64_t bytes) {
  live_ += bytes;
  if (moments_.empty() || live_ <= moments_.back().bytes) return;
  LedgerMoment& now = moments_.back();
  now.bytes = live_;
  now.gradient_bytes = gradients_;
  now.event = events_.size();
}

Tensor Ledger::Make(const TensorName& name, Component component,
                    const TensorSize& size, TensorType type) {
  Tensor tensor;
  tensor.ledger_ = this;
  tensor.index_ = tensors_.size();
  tensors_.push_back({name, component, size, type, layer_, 1});
  events_.push_back({tensor.index_, /*freed=*/false});
  Raise(tensor.bytes());
  return tensor;
}

void Ledger::Add(int64_t bytes, int64_t gradient_bytes) {
  gradients_ += gradient_bytes;
  Raise(bytes);
}

void Ledger::Free(std::size_t index) {
  TensorRecord& tensor = tensors_[index];
  if (--tensor.uses > 0) return;
  events_.push_back({index, /*freed=*/true});
  live_ -= tensor.bytes();
}

std::vector<TensorRecord> Ledger::AliveAfter(std::size_t events) const {
  std::vector<bool> alive(tensors_.size());
  for (std::size_t i = 0; i < events; ++i) {
    alive[events_[i].tensor] = !events_[i].freed;
  }
  std::vector<TensorRecord> found;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (alive[i]) found.push_back(tensors_[i]);
  }
  return found;
}

}  // namespace trainbench::ledger
