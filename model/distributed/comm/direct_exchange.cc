// SPDX-License-Identifier: MIT

#include "model/distributed/comm/direct_exchange.h"

#include <torch/types.h>

#include <cstdint>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

// Messages to and from all other ranks. Messages between two ranks arrive in
// the order in which they were sent.
class DirectExchange {
 public:
  explicit DirectExchange(c10d::Backend& backend) : backend_(backend) {}

  // The other ranks, the next one first.
  std::vector<int> Others() const {
    const int rank = backend_.getRank(), size = backend_.getSize();
    std::vector<int> others;
    for (int i = 1; i < size; ++i) others.push_back((rank + i) % size);
    return others;
  }

  void Send(const at::Tensor& values, int to) {
    std::vector<at::Tensor> tensors = {values};
    sending_.push_back(backend_.send(tensors, to, /*tag=*/0));
  }
  void Receive(const at::Tensor& values, int from) {
    std::vector<at::Tensor> tensors = {values};
    receiving_.push_back(backend_.recv(tensors, from, /*tag=*/0));
  }

  // Waits for the message of the i-th Receive().
  void WaitFor(std::size_t i) { receiving_[i]->wait(); }
  void WaitUntilSent() {
    for (const auto& work : std::exchange(sending_, {})) work->wait();
  }

 private:
  c10d::Backend& backend_;
  std::vector<c10::intrusive_ptr<c10d::Work>> sending_, receiving_;
};

at::Tensor Chunk(const at::Tensor& values, int rank, int size) {
  const int64_t n = values.numel() / size;
  return values.narrow(0, rank * n, n);
}

class AllGather final : public Collective {
 public:
  AllGather(c10d::Backend& backend, const at::Tensor& values)
      : exchange_(backend) {
    if (values.numel() == 0) return;
    const int rank = backend.getRank(), size = backend.getSize();
    const std::vector<int> others = exchange_.Others();
    messages_ = others.size();
    for (const int from : others) {
      exchange_.Receive(Chunk(values, from, size), from);
    }
    for (const int to : others) exchange_.Send(Chunk(values, rank, size), to);
  }

  void Wait() override {
    for (std::size_t i = 0; i < messages_; ++i) exchange_.WaitFor(i);
    exchange_.WaitUntilSent();
  }

 private:
  DirectExchange exchange_;
  std::size_t messages_ = 0;
};

class ReduceScatter final : public Collective {
 public:
  ReduceScatter(c10d::Backend& backend, const at::Tensor& values)
      : exchange_(backend) {
    const int rank = backend.getRank(), size = backend.getSize();
    const std::vector<int> others = exchange_.Others();
    if (values.numel() == 0 || others.empty()) return;
    mine_ = Chunk(values, rank, size);
    received_ = at::empty({size - 1, mine_.numel()}, values.options());
    for (std::size_t i = 0; i < others.size(); ++i) {
      exchange_.Receive(received_[static_cast<int64_t>(i)], others[i]);
    }
    for (const int to : others) exchange_.Send(Chunk(values, to, size), to);
  }

  void Wait() override {
    if (!received_.defined()) return;
    const at::NoGradGuard no_grad;
    at::Tensor sum;
    for (int64_t i = 0; i < received_.size(0); ++i) {
      exchange_.WaitFor(static_cast<std::size_t>(i));
      if (sum.defined()) {
        sum.add_(received_[i]);
      } else {
        sum = received_[i];
      }
    }
    mine_.add_(sum);
    exchange_.WaitUntilSent();
    received_.reset();
  }

 private:
  DirectExchange exchange_;
  at::Tensor mine_, received_;
};

}  // namespace

std::unique_ptr<Collective> StartDirectAllGather(c10d::Backend& backend,
                                                 const at::Tensor& values) {
  return std::make_unique<AllGather>(backend, values);
}

std::unique_ptr<Collective> StartDirectReduceScatter(c10d::Backend& backend,
                                                     const at::Tensor& values) {
  return std::make_unique<ReduceScatter>(backend, values);
}

}  // namespace trainbench
