// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/parallel_bounds.h"

#include <algorithm>
#include <limits>

namespace trainbench {
namespace {

// Bytes that a device sends in the limit of many devices.
double SentBytes(Split split, Pass pass, const LayerJob& job) {
  const double weights =
      job.value_bytes * job.matrices * job.d_model * job.d_ff;
  const double activations = job.value_bytes * job.tokens * job.d_model;
  switch (split) {
    case Split::kData:
      return pass == Pass::kForward ? 0 : 2 * weights;
    case Split::kFsdp:
      return pass == Pass::kForward ? weights : 2 * weights;
    case Split::kTensor:
      return 2 * activations;
  }
  return 0;
}

double Flops(Pass pass, const LayerJob& job) {
  return (pass == Pass::kForward ? 2 : 4) * job.matrices * job.tokens *
         job.d_model * job.d_ff;
}

// X0 and Y0 of the header.
double FsdpSlack(const LayerJob& job) {
  return LargestSplit(Split::kFsdp, Pass::kForward, job) - 1;
}
double TensorSlack(const LayerJob& job) {
  return LargestSplit(Split::kTensor, Pass::kForward, job) - 1;
}

}  // namespace

double LargestSplit(Split split, Pass pass, const LayerJob& job) {
  const double bytes = SentBytes(split, pass, job);
  if (bytes == 0) return std::numeric_limits<double>::infinity();
  // flops / (N C) = bytes (N - 1) / (N W)
  return 1 + Flops(pass, job) / bytes * job.link_bytes_per_second /
                 job.flops_per_second;
}

Mesh LargestMesh(const LayerJob& job, bool overlap) {
  const double x0 = FsdpSlack(job), y0 = TensorSlack(job);
  if (overlap) return {1 + x0, 1 + y0};
  const double share = std::clamp(0.5 + (1 / y0 - 1 / x0) / 2, 0.0, 1.0);
  return {1 + x0 * share, 1 + y0 * (1 - share)};
}

double LargestMeshLimit(const LayerJob& job, bool overlap) {
  return (overlap ? 1 : 0.25) * FsdpSlack(job) * TensorSlack(job);
}

}  // namespace trainbench
