// SPDX-License-Identifier: MIT

#include "model/parallel/ring.h"

#include <torch/types.h>

#include <vector>

namespace trainbench {
namespace {

// Sends to the next rank and receives from the one before.
void Exchange(c10d::Backend& backend, const at::Tensor& sent,
              const at::Tensor& received) {
  const int rank = backend.getRank(), size = backend.getSize();
  std::vector<at::Tensor> out = {sent}, in = {received};
  const auto sending = backend.send(out, (rank + 1) % size, /*tag=*/0);
  const auto receiving = backend.recv(in, (rank + size - 1) % size, /*tag=*/0);
  receiving->wait();
  sending->wait();
}

// Part `index`, counted round the ring in either direction.
at::Tensor Part(const at::Tensor& values, int index, int size) {
  const int64_t n = values.numel() / size;
  return values.narrow(0, (index % size + size) % size * n, n);
}

}  // namespace

void RingReduceScatter(c10d::Backend& backend, const at::Tensor& values) {
  const int rank = backend.getRank(), size = backend.getSize();
  if (size == 1) return;
  const at::Tensor received = at::empty_like(Part(values, 0, size));
  // A part's sum begins at the rank after its own, and ends there.
  for (int round = 1; round < size; ++round) {
    Exchange(backend, Part(values, rank - round, size), received);
    Part(values, rank - round - 1, size).add_(received);
  }
}

void RingAllGather(c10d::Backend& backend, const at::Tensor& values) {
  const int rank = backend.getRank(), size = backend.getSize();
  for (int round = 0; round + 1 < size; ++round) {
    Exchange(backend, Part(values, rank - round, size),
             Part(values, rank - round - 1, size));
  }
}

}  // namespace trainbench
