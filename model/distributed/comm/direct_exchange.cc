// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "model/distributed/comm/gloo_exchanges.h"

namespace trainbench {
namespace {

using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

// The other ranks, the next one first.
std::vector<int> Others(const c10d::Backend& backend) {
  const int rank = backend.getRank(), size = backend.getSize();
  std::vector<int> others;
  for (int i = 1; i < size; ++i) others.push_back((rank + i) % size);
  return others;
}

// Messages between two ranks arrive in the order in which they were sent.
void Send(c10d::Backend& backend, const at::Tensor& values, int to,
          Works& works) {
  std::vector<at::Tensor> tensors = {values};
  works.push_back(backend.send(tensors, to, /*tag=*/0));
}
void Receive(c10d::Backend& backend, const at::Tensor& values, int from,
             Works& works) {
  std::vector<at::Tensor> tensors = {values};
  works.push_back(backend.recv(tensors, from, /*tag=*/0));
}

class AllGather final : public Collective {
 public:
  AllGather(c10d::Backend& backend, const at::Tensor& values)
      : values_(values) {
    if (values.numel() == 0) return;
    const int rank = backend.getRank(), size = backend.getSize();
    Communicate([&] {
      for (const int from : Others(backend)) {
        Receive(backend, Chunk(values, from, size), from, works_);
      }
      for (const int to : Others(backend)) {
        Send(backend, Chunk(values, rank, size), to, works_);
      }
    });
  }

  void Wait() override {
    Communicate([&] {
      for (const auto& work : works_) work->wait();
    });
  }

 private:
  const at::Tensor values_;
  Works works_;
};

class ReduceScatter final : public Collective {
 public:
  ReduceScatter(c10d::Backend& backend, const at::Tensor& output,
                const at::Tensor& input)
      : output_(output) {
    const int rank = backend.getRank(), size = backend.getSize();
    mine_ = Chunk(input, rank, size);
    if (input.numel() == 0 || size == 1) return;
    received_ = at::empty({size - 1, mine_.numel()}, input.options());
    Communicate([&] {
      for (const int from : Others(backend)) {
        const at::Tensor place = received_[std::ssize(receiving_)];
        Receive(backend, place, from, receiving_);
      }
      for (const int to : Others(backend)) {
        Send(backend, Chunk(input, to, size), to, sending_);
      }
    });
  }

  void Wait() override {
    const at::NoGradGuard no_grad;
    if (received_.defined()) Communicate([&] { AddReceived(); });
    CopyUnlessSame(mine_, output_);
  }

 private:
  void AddReceived() {
    at::Tensor sum = received_[0];
    for (std::size_t i = 0; i < receiving_.size(); ++i) {
      receiving_[i]->wait();
      if (i > 0) sum.add_(received_[static_cast<int64_t>(i)]);
    }
    mine_.add_(sum);
    for (const auto& work : sending_) work->wait();
    received_.reset();
  }

  at::Tensor output_, mine_, received_;
  Works sending_, receiving_;
};

}  // namespace

void CopyUnlessSame(const at::Tensor& from, const at::Tensor& to) {
  if (from.data_ptr() != to.data_ptr()) to.copy_(from.view_as(to));
}

at::Tensor Chunk(const at::Tensor& values, int index, int size) {
  const int64_t n = values.numel() / size;
  return values.narrow(0, (index % size + size) % size * n, n);
}

std::unique_ptr<Collective> StartDirectAllGather(c10d::Backend& backend,
                                                 const at::Tensor& values) {
  return std::make_unique<AllGather>(backend, values);
}

std::unique_ptr<Collective> StartDirectReduceScatter(c10d::Backend& backend,
                                                     const at::Tensor& output,
                                                     const at::Tensor& input) {
  return std::make_unique<ReduceScatter>(backend, output, input);
}

}  // namespace trainbench
