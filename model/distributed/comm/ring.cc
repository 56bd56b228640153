// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "model/distributed/comm/gloo_exchanges.h"

namespace trainbench {
namespace {

// A message to the next rank and a message from the previous rank, both in
// flight.
class Exchange {
 public:
  Exchange(c10d::Backend& backend, const at::Tensor& sent,
           const at::Tensor& received) {
    const int rank = backend.getRank(), size = backend.getSize();
    std::vector<at::Tensor> out = {sent}, in = {received};
    sending_ = backend.send(out, (rank + 1) % size, /*tag=*/0);
    receiving_ = backend.recv(in, (rank + size - 1) % size, /*tag=*/0);
  }
  void Wait() {
    receiving_->wait();
    sending_->wait();
  }

 private:
  c10::intrusive_ptr<c10d::Work> sending_, receiving_;
};

// Sends `sent` and adds the received values to `sum`, segment by segment: one
// segment is added while the next is in flight. `buffers` is [2, segment].
void ExchangeAndAdd(c10d::Backend& backend, const at::Tensor& sent,
                    const at::Tensor& sum, const at::Tensor& buffers) {
  const std::vector<at::Tensor> out = sent.split(buffers.size(1));
  const std::vector<at::Tensor> sums = sum.split(buffers.size(1));
  const auto buffer = [&](std::size_t i) {
    return buffers[static_cast<int64_t>(i % 2)].narrow(0, 0, out[i].numel());
  };
  Exchange exchange(backend, out[0], buffer(0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    exchange.Wait();
    if (i + 1 < out.size()) {
      exchange = Exchange(backend, out[i + 1], buffer(i + 1));
    }
    at::Tensor(sums[i]).add_(buffer(i));
  }
}

}  // namespace

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

void RingAllGather(c10d::Backend& backend, const at::Tensor& values) {
  const int rank = backend.getRank(), size = backend.getSize();
  for (int round = 0; round + 1 < size; ++round) {
    Exchange(backend, Chunk(values, rank - round, size),
             Chunk(values, rank - round - 1, size))
        .Wait();
  }
}

}  // namespace trainbench
