// SPDX-License-Identifier: MIT

#include "model/distributed/comm/gloo_exchanges.h"

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

// Messages in flight. Messages between two ranks arrive in the order in which
// they were sent.
class Messages {
 public:
  explicit Messages(c10d::Backend& backend, int tag = kUsualTag)
      : backend_(&backend), tag_(tag) {}

  void Send(const at::Tensor& values, int to) {
    std::vector<at::Tensor> tensors = {values};
    works_.push_back(backend_->send(tensors, to, tag_));
  }
  void Receive(const at::Tensor& values, int from) {
    std::vector<at::Tensor> tensors = {values};
    works_.push_back(backend_->recv(tensors, from, tag_));
  }

  void Wait(std::size_t message) { works_[message]->wait(); }
  void WaitForAll() {
    for (const auto& work : works_) work->wait();
  }

 private:
  c10d::Backend* backend_;
  int tag_;
  std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

// The other ranks, the next one first.
std::vector<int> Others(const c10d::Backend& backend) {
  const int rank = backend.getRank(), size = backend.getSize();
  std::vector<int> others;
  for (int i = 1; i < size; ++i) others.push_back((rank + i) % size);
  return others;
}

// Starts to send to the next rank of the ring and to receive from the previous
// one.
Messages StartOnRing(c10d::Backend& backend, const at::Tensor& sent,
                     const at::Tensor& received, int tag = kUsualTag) {
  const std::vector<int> others = Others(backend);
  Messages both(backend, tag);
  both.Send(sent, others.front());
  both.Receive(received, others.back());
  return both;
}

// Sends `sent` and adds the received values to `sum`, segment by segment: one
// segment is added while the next is in flight. `buffers` is [2, segment].
void ExchangeAndAdd(c10d::Backend& backend, const at::Tensor& sent,
                    const at::Tensor& sum, const at::Tensor& buffers) {
  const std::vector<at::Tensor> out = sent.split(buffers.size(1));
  const std::vector<at::Tensor> sums = sum.split(buffers.size(1));
  const auto buffer = [&](std::size_t i) {
    return buffers[static_cast<int64_t>(i % 2)].narrow(0, 0, out[i].numel());
  };
  Messages messages = StartOnRing(backend, out[0], buffer(0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    messages.WaitForAll();
    if (i + 1 < out.size()) {
      messages = StartOnRing(backend, out[i + 1], buffer(i + 1));
    }
    at::Tensor(sums[i]).add_(buffer(i));
  }
}

// Adds the received values to each other in the order of their senders, and
// their sum to `mine`.
void AddReceived(Messages& receiving, const at::Tensor& received,
                 const at::Tensor& mine) {
  at::Tensor sum = received[0];
  for (int64_t i = 0; i < received.size(0); ++i) {
    receiving.Wait(static_cast<std::size_t>(i));
    if (i > 0) sum.add_(received[i]);
  }
  mine.add_(sum);
}

}  // namespace

void CopyUnlessSame(const at::Tensor& from, const at::Tensor& to) {
  if (from.data_ptr() != to.data_ptr()) to.copy_(from.view_as(to));
}

at::Tensor Chunk(const at::Tensor& values, int index, int size) {
  const int64_t n = values.numel() / size;
  return values.narrow(0, (index % size + size) % size * n, n);
}

void RingReduceScatter(c10d::Backend& backend, const at::Tensor& values) {
  const int rank = backend.getRank(), size = backend.getSize();
  if (size == 1 || values.numel() == 0) return;
  const at::Tensor buffers = at::empty(
      {2, std::min(kRingSegment, values.numel() / size)}, values.options());
  // The sum of chunk r starts at rank r + 1 and ends at rank r.
  for (int round = 1; round < size; ++round) {
    ExchangeAndAdd(backend, Chunk(values, rank - round, size),
                   Chunk(values, rank - round - 1, size), buffers);
  }
}

void RingAllGather(c10d::Backend& backend, const at::Tensor& values, int tag) {
  const int rank = backend.getRank(), size = backend.getSize();
  for (int round = 0; round + 1 < size; ++round) {
    StartOnRing(backend, Chunk(values, rank - round, size),
                Chunk(values, rank - round - 1, size), tag)
        .WaitForAll();
  }
}

Collective StartDirectAllGather(c10d::Backend& backend,
                                const at::Tensor& values) {
  if (values.numel() == 0) return nullptr;
  const int rank = backend.getRank(), size = backend.getSize();
  Messages messages(backend);
  Communicate([&] {
    for (const int from : Others(backend)) {
      messages.Receive(Chunk(values, from, size), from);
    }
    for (const int to : Others(backend)) {
      messages.Send(Chunk(values, rank, size), to);
    }
  });
  return [values, messages = std::move(messages)]() mutable {
    Communicate([&] { messages.WaitForAll(); });
  };
}

Collective StartDirectReduceScatter(c10d::Backend& backend,
                                    const at::Tensor& output,
                                    const at::Tensor& input) {
  const int size = backend.getSize();
  const at::Tensor mine = Chunk(input, backend.getRank(), size);
  if (input.numel() == 0 || size == 1) {
    const at::NoGradGuard no_grad;
    CopyUnlessSame(mine, output);
    return nullptr;
  }
  at::Tensor received = at::empty({size - 1, mine.numel()}, input.options());
  Messages receiving(backend), sending(backend);
  Communicate([&] {
    int64_t place = 0;
    for (const int from : Others(backend)) {
      receiving.Receive(received[place++], from);
    }
    for (const int to : Others(backend)) {
      sending.Send(Chunk(input, to, size), to);
    }
  });
  return [output, mine, received = std::move(received),
          receiving = std::move(receiving),
          sending = std::move(sending)]() mutable {
    const at::NoGradGuard no_grad;
    Communicate([&] {
      AddReceived(receiving, received, mine);
      sending.WaitForAll();
    });
    received.reset();
    CopyUnlessSame(mine, output);
  };
}

}  // namespace trainbench
